import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject, RecordPlace } from './agent.ts';
import { compose, type Draft, draft } from './compose.ts';
import { toTimestamp } from './document.ts';
import { database } from './goose/database.ts';
import { exported } from './goose/document.ts';
import { readMessage } from './goose/message.ts';
import { identify, nameUsage, readLedger, readSession, readSummed } from './goose/session.ts';
import { toTime } from './goose/time.ts';
import { isObject, type Path, peek, type Remainder, remainderOf } from './remainder.ts';
import { takeFirstText, takeSame } from './typed.ts';

/**
 * Goose keeps all sessions in a database: a row per session, per message and, in a ledger, per response of the model. When
 * a conversation is shortened its messages are written anew, under the same `message_id`. Sub-agents have sessions of their
 * own. Exports and the older files, a message per line, are read where a person names them: Goose itself took the older
 * files over into the database. A session's ledger and its export, both captured, count its tokens twice.
 */
export const goose: Agent = {
  id: 'goose',
  displayName: 'Goose',
  programs: ['goose'],
  variables: ['GOOSE_PATH_ROOT', 'XDG_DATA_HOME'],
  credentials: (_, home) => [join(home, '.config', 'goose', 'secrets.yaml')],
  roots: (variables, home) => {
    const { GOOSE_PATH_ROOT: root, XDG_DATA_HOME: data = join(home, '.local', 'share'), APPDATA } = variables;
    const moved = root ? [join(root, 'data', 'sessions')] : [];
    const onWindows = APPDATA ? [join(APPDATA, 'Block', 'goose', 'data', 'sessions')] : [];
    return [...moved, join(data, 'goose', 'sessions'), ...onWindows];
  },
  isTranscript: (path) => path === 'sessions.db',
  entersFolder: () => false,
  store: (path) => (path.endsWith('.jsonl') ? undefined : /\.db(#|$)/.test(path) ? database : exported),
  identify,
  recordKey,
  parse,
};

type KindReader = (remainder: Remainder, at: Path, place: RecordPlace) => Draft[];

const READERS: ReadonlyMap<string, KindReader> = new Map<string, KindReader>([
  ['sessions', readSession],
  ['summed', readSummed],
  ['messages', readMessage],
  ['usage_ledger', readLedger],
]);

/** A message is the same in another row, and in an export. */
function recordKey({ messages }: JsonObject): string | undefined {
  if (!isObject(messages)) return undefined;
  const { message_id: id = messages.id, role, content_json: content = messages.content } = messages;
  const { metadata_json: metadata = messages.metadata, created_timestamp: created = messages.created } = messages;
  if (typeof id !== 'string' || id.length < 8) return undefined;
  return `${id} ${hash('sha256', JSON.stringify([role, content, metadata, created]))}`;
}

function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  const key = [...READERS.keys()].find((name) => isObject(peek(remainder, name)));
  // A line of an older file is a message, the first one what is known of the session.
  const at = key === undefined ? [] : [key];
  const read = key === undefined ? (Array.isArray(record.content) ? readMessage : readLine) : READERS.get(key);
  const drafts = read?.(remainder, at, place) ?? [];
  if (drafts.length === 0) drafts.push(draft('record', { kind: key }));
  const { revision, occurredAt } = timesOf(remainder, at);
  takeSame(remainder, place.origin.subagent ?? place.origin.session, ...at, 'session_id');
  const id = key === 'usage_ledger' ? nameUsage(peek(remainder, key, 'id')) : takeId(remainder, at);
  const isRewritten = key !== undefined && id !== undefined;
  return compose(
    remainder,
    place,
    {
      ...{ agent: goose.id, record: id, occurredAt },
      ...(isRewritten && { revision }),
    },
    drafts,
  );
}

const takeId = (remainder: Remainder, at: Path): string | undefined =>
  takeFirstText(remainder, [...at, 'message_id'], [...at, 'id']);

const readLine: KindReader = (remainder, at, place) =>
  typeof peek(remainder, 'working_dir') === 'string' ? readSummed(remainder, at, place) : [];

/** Of a message, which tells no time of its last change, the number of its row: it grows when it is written anew. */
function timesOf(remainder: Remainder, at: Path) {
  const of = (...names: string[]) =>
    names.map((name) => peek(remainder, ...at, name)).find((value) => value !== undefined);
  const created = toTime(of('created_timestamp', 'created', 'created_at'));
  const row = of('id');
  const changed = toTime(of('updated_at')) ?? (Number.isSafeInteger(row) ? (row as number) : 0);
  return { revision: Math.max(0, Math.floor(changed)), occurredAt: toTimestamp(created) };
}
