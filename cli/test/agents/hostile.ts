import fc from 'fast-check';
import type { JsonObject } from '../../agents/agent.ts';

/** Random records that no agent would write. */

const KEYS = [
  ...['__proto__', 'constructor', 'toString', '', '0', 'length', 'rawJSON'],
  ...[
    'type',
    'subtype',
    'payload',
    'message',
    'content',
    'role',
    'text',
    'uuid',
    'parentUuid',
    'sessionId',
    'timestamp',
  ],
  ...[
    'toolUseResult',
    'agentId',
    'status',
    'attachment',
    'prompt',
    'usage',
    'item',
    'info',
    'call_id',
    'summary',
    'id',
  ],
  ...['ts', 'say', 'ask', 'metrics', 'modelInfo', 'metadata', 'updated_at', 'session_id', 'tokensIn', 'kind', 'time'],
];

const WORDS = [
  ...['user', 'assistant', 'system', 'attachment', 'progress', 'text', 'thinking', 'tool_use', 'tool_result', 'image'],
  ...[
    'response_item',
    'event_msg',
    'session_meta',
    'turn_context',
    'compacted',
    'message',
    'reasoning',
    'function_call',
  ],
  ...['say', 'ask', 'api_req_started', 'tool', 'command', 'condense_context', 'compaction_summary', 'usage', 'session'],
  ...['function_call_output', 'user_message', 'token_count', 'item_completed', 'UserMessage', 'CommandExecution'],
];

const key = fc.oneof(fc.constantFrom(...KEYS), fc.string());
const leaf = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.string(),
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    objectOf(tie('value')),
  ),
}));

function objectOf(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  // `fromEntries` makes `__proto__` an own property, as `JSON.parse` does.
  return fc.array(fc.tuple(key, values), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));
}

const deep = fc.tuple(value, fc.nat(100)).map(([inner, depth]) => {
  let outer = inner;
  for (let level = 0; level < depth; level++) outer = level % 2 === 0 ? [outer] : { content: outer };
  return outer;
});

/** JSON text of an object with random content. */
export const anyRecord: fc.Arbitrary<string> = fc
  .array(fc.tuple(key, fc.oneof(value, deep)), { maxLength: 12 })
  .map((entries) => JSON.stringify(Object.fromEntries(entries)));

/** JSON text of one of the records after one to six random changes. */
export function mutated(records: readonly string[]): fc.Arbitrary<string> {
  const step = fc.record({ at: fc.nat(), change: fc.constantFrom(...CHANGES), key, value: fc.oneof(value, deep) });
  return fc.tuple(fc.constantFrom(...records), fc.array(step, { minLength: 1, maxLength: 6 })).map(([text, steps]) => {
    const record = JSON.parse(text) as JsonObject;
    for (const { at, change, key, value } of steps) {
      const places = placesIn(record);
      const place = places[at % places.length];
      if (place !== undefined) change(place.container, place.key, key, value);
    }
    return JSON.stringify(record);
  });
}

type Change = (container: JsonObject, at: string, key: string, value: unknown) => void;

const CHANGES: readonly Change[] = [
  (container, at) => delete container[at],
  (container, at, _key, value) => define(container, at, value),
  (container, at, key) => define(container, key, container[at]),
  (container, at) => define(container, at, [container[at], container[at]]),
  (container, _at, key, value) => define(container, key, value),
];

function define(container: JsonObject, key: string, value: unknown): void {
  const copy: unknown = value === undefined ? null : JSON.parse(JSON.stringify(value));
  if (Array.isArray(container)) container.push(copy);
  else Object.defineProperty(container, key, { value: copy, enumerable: true, configurable: true, writable: true });
}

function placesIn(container: JsonObject): { container: JsonObject; key: string }[] {
  return Object.entries(container).flatMap(([key, value]) => {
    const inner = typeof value === 'object' && value !== null ? placesIn(value as JsonObject) : [];
    return [{ container, key }, ...inner];
  });
}
