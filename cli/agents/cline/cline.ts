import { parseExact } from '../../exact.ts';
import type { Agent, JsonObject } from '../agent.ts';
import { keyWithContent } from '../shared/identity.ts';
import { locate } from '../shared/locations.ts';
import { identifySession, isSessionFile, parseSession, splitSession } from './session.ts';
import { withTasks } from './task.ts';

/**
 * Cline's command line (3.x, and the extension from 4.0 on) keeps two documents per session, rewritten at each change:
 * - `<id>/<id>.json`, facts and totals. The totals repeat the messages, so they are not usage. The fields that change while
 *   the session runs are a separate record: the other facts are captured at once, the changing ones when the file is at rest.
 * - `<id>/<id>.messages.json`, or `<agent>.messages.json` for a sub-agent or a teammate: a header with the system prompt,
 *   then the messages. A message is appended whole. If it is written again, for instance with the metrics of a turn, it is a
 *   revision of the same `source.record`. The time of the last change is a record too, captured when the file is at rest.
 * - `<id>/<id>.compaction.json`, which replaces the messages after a compaction: a summary, and messages that were already
 *   captured.
 * A fork begins with its parent's messages, which are recognised. Input tokens include the cached ones.
 *
 * The older extension keeps its tasks in the same way as its descendants: see `task.ts`.
 */
const program: Agent = {
  id: 'cline',
  displayName: 'Cline',
  programs: ['cline'],
  ...locate({
    folder: '.cline',
    movedBy: 'CLINE_DIR',
    data: { folder: 'data', movedBy: 'CLINE_DATA_DIR' },
    roots: ['sessions', 'tasks'],
    rootMovedBy: 'CLINE_SESSION_DATA_DIR',
    credentials: ['secrets.json', 'settings/providers.json'],
  }),
  isTranscript: isSessionFile,
  store: { kind: 'document', split: (text) => [splitSession(parseExact(text))], isUnsettled: isChange },
  endsSession: ({ ended_at, role }) => role === undefined && typeof ended_at === 'string',
  identify: identifySession,
  recordKey,
  parse: parseSession,
};

export const cline = withTasks(program, 'saoudrizwan.claude-dev', 'excluded');

/** Whether a record is rewritten with each message. */
function isChange({ updated_at, status, session_id, role }: JsonObject): boolean {
  return role === undefined && session_id === undefined && (updated_at !== undefined || status !== undefined);
}

/** A message with another content is another writing of it. */
function recordKey(record: JsonObject): string | undefined {
  const { id, ts } = record;
  if (typeof id !== 'string' || id.length < 8 || typeof ts !== 'number') return undefined;
  return keyWithContent(`${id} ${ts}`, record);
}
