import type { CapturedEvent } from '../../../contract/transcript.ts';
import type { Agent, JsonObject, RecordPlace } from '../agent.ts';
import { compose, type Draft, draft } from '../compose.ts';
import { isObject, type Path, peek, type Remainder, remainderOf } from '../remainder.ts';
import { peekText, takeFirstText, takeSame, takeText } from '../typed.ts';
import { readMessage } from './message.ts';
import { readPart } from './part.ts';
import { readRemoval, readSession } from './session.ts';

/** Readers of a record by the key it stands under, told where its content is. */
type KindReader = (remainder: Remainder, at: Path, place: RecordPlace) => Draft[];

const READERS: readonly (readonly [key: string, KindReader])[] = [
  ['session', readSession],
  ['message', readMessage],
  ['user', (remainder, at, place) => readPart(remainder, at, 'user', place)],
  ['assistant', (remainder, at, place) => readPart(remainder, at, 'assistant', place)],
  ['summary', (remainder, at, place) => readPart(remainder, at, 'summary', place)],
  ['part', (remainder, at, place) => readPart(remainder, at, 'part', place)],
  ['removed', (remainder) => readRemoval(remainder, ['removed'])],
  ['todo', () => [draft('record', { kind: 'todo' })]],
  [
    'session_message',
    (remainder, at) => [draft('record', { kind: `session_message ${peekText(remainder, ...at.slice(0, 1), 'type')}` })],
  ],
  ['session_input', () => [draft('record', { kind: 'session_input' })]],
];

/** The events of a row of the database, or of the same thing in an export, where its columns and its content are one. */
export const parserFor =
  (agent: Agent['id']) =>
  (record: JsonObject, place: RecordPlace): CapturedEvent[] => {
    const remainder = remainderOf(record);
    const [key, read] = READERS.find(([key]) => Object.hasOwn(record, key) && isObject(record[key])) ?? [];
    const at = key === undefined ? [] : isObject(peek(remainder, key, 'data')) ? [key, 'data'] : [key];
    const envelope = key === undefined ? {} : readEnvelope(remainder, key, at, place);
    const drafts = (key !== undefined && read?.(remainder, at, place)) || [];
    if (drafts.length === 0) drafts.push(draft('record', { kind: key }));
    return compose(remainder, place, { agent, ...envelope }, drafts);
  };

function readEnvelope(remainder: Remainder, key: string, at: Path, { origin }: RecordPlace) {
  const times = timesOf(remainder, key, at);
  const created = times[0];
  for (const name of ['session_id', 'sessionID']) takeSame(remainder, origin.subagent ?? origin.session, key, name);
  return {
    record: key === 'todo' ? nameTodo(peek(remainder, key, 'position')) : takeText(remainder, key, 'id'),
    parent: takeFirstText(remainder, [key, 'message_id'], [key, 'messageID'], [...at, 'parentID']),
    revision: key === 'removed' ? undefined : Math.max(0, ...times),
    ...(created !== undefined && { occurredAt: new Date(created).toISOString() }),
  };
}

/** Milliseconds, the earliest first; the latest is when it was written last, nearly so in an export. */
function timesOf(remainder: Remainder, key: string, at: Path): number[] {
  const places: Path[] = [
    ...[['created'], [key, 'time_updated'], [key, 'time_created']],
    ...['created', 'start', 'updated', 'completed', 'end'].map((name) => [...at, 'time', name]),
    ...['start', 'end'].map((name) => [...at, 'state', 'time', name]),
  ];
  const times = places.map((path) => peek(remainder, ...path));
  return times.filter((time) => isTime(time)).sort((one, other) => one - other);
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && Math.abs(value as number) <= 8.64e15;

/** Rows have numbers; whatever else stands there is no name. */
const nameTodo = (position: unknown): string => (typeof position === 'number' ? `todo ${position}` : 'todo');
