import { type CapturedType, VOCABULARY } from '../../../contract/transcript.ts';
import { type Draft, draft } from '../compose.ts';
import { peek, type Remainder, take } from '../remainder.ts';
import { peekText, takeText } from '../typed.ts';

/** What every payload has, which is not for an agent to say. */
const COMMON = new Set(['source', 'occurredAt', 'rest', 'redactions']);

/** The event that a line's `type` names, with the line's fields that it may have; else a `record` of that kind. */
export function readFields(remainder: Remainder): Draft {
  const type = peekText(remainder, 'type') ?? '';
  const eventType = toEventType(type);
  const { properties, required = [] } = VOCABULARY[eventType];
  const names = Object.keys(properties).filter((name) => !COMMON.has(name));
  const schemaOf = (name: string) => (properties as { [name: string]: Schema })[name] ?? {};
  const fits = (name: string) => isOf(schemaOf(name), peek(remainder, name));
  const isComplete = names.every((name) => fits(name) || !(required as string[]).includes(name));
  if (eventType === 'record' || !isComplete)
    return draft('record', { kind: takeText(remainder, 'kind') ?? (type || undefined) });
  const fields = names.filter(fits).map((name) => [name, take(remainder, name)]);
  return { eventType, fields: Object.fromEntries(fields) };
}

function toEventType(type: string): CapturedType {
  if (type === 'session') return 'session.meta';
  // What is unreadable is for the reader to tell.
  return Object.hasOwn(VOCABULARY, type) && type !== 'unreadable' ? (type as CapturedType) : 'record';
}

interface Schema {
  type?: string;
  enum?: unknown[];
}

/** Whether a value is what a field of the vocabulary holds; they are texts, numbers, flags, choices, or anything. */
function isOf({ type, enum: choices }: Schema, value: unknown): boolean {
  if (value === undefined) return false;
  if (choices !== undefined) return choices.includes(value);
  if (type === undefined) return true;
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}
