import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Agent, JsonObject, Origin, TranscriptFile } from '../agent.ts';
import { headerOf, toOrigin } from '../shared/identity.ts';
import { isObject, peekWords } from '../shared/part.ts';
import { parse } from './parse.ts';
import { database } from './store.ts';

/**
 * Goose keeps all sessions in a database: a row per session, per message and, in a ledger, per response of the model. When
 * a conversation is shortened its messages are written anew, under the same `message_id`. Sub-agents have sessions of their
 * own. Not seen: exports, and the older files, a message per line, which Goose itself took over into the database.
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
  store: database,
  hasLocalIds: true,
  identify,
  recordKey,
  parse,
};

/** The first record is the session's; sub-agents have one of their own, with a parent. */
function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const record = headerOf(first);
  const word = (name: string) => peekWords(record, `sessions.${name}`, `summed.${name}`);
  const id = word('id') ?? path.split('#')[1] ?? path;
  const parent = peekWords(record, 'root') ?? word('parent_session_id');
  return toOrigin({
    session: parent ?? id,
    subagent: parent && id,
    cwd: word('working_dir'),
  });
}

/** A message is the same in another row. */
function recordKey({ messages }: JsonObject): string | undefined {
  if (!isObject(messages)) return undefined;
  const { message_id: id, role, content_json, metadata_json, created_timestamp } = messages;
  if (typeof id !== 'string' || id.length < 8) return undefined;
  return `${id} ${hash('sha256', JSON.stringify([role, content_json, metadata_json, created_timestamp]))}`;
}
