import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject, RecordPlace, Retention, Variables } from './agent.ts';
import { compose, draft } from './compose.ts';
import { toJson } from './deep-json.ts';
import { readAnswer } from './gemini-cli/answer.ts';
import { parseCheckpoint, readChange, readRewind } from './gemini-cli/change.ts';
import { DOCUMENT } from './gemini-cli/document.ts';
import { folderOf } from './gemini-cli/folder.ts';
import { identify, isTranscript } from './gemini-cli/origin.ts';
import { readUser } from './gemini-cli/user.ts';
import { facts, keyOf, notice, type Reader } from './reader.ts';
import { peek, remainderOf } from './remainder.ts';
import { peekText, takeFirstText, takeSame, takeText } from './typed.ts';

/**
 * Gemini CLI writes a file per session and one per sub-agent (before 0.40 a document, see `document.ts`): a log of changes to a document, a change per line.
 * - A message is written again, with the same `id`, when its tools have answered. Each writing is captured: a revision of
 *   the same `source.record`, of which the latest counts. Its usage has the message as `responseId`.
 * - `$set` changes the document's own fields. With `messages` it puts a whole history in place of what was: at the start,
 *   when a session is resumed, when it was compacted or interrupted, when long outputs are cut. Such a checkpoint says
 *   again what stands above, with less or under new ids: it becomes one event of the context, with all of it in `rest`.
 *   Taken out is what stands nowhere else: the context at the start, and the summary of a compaction.
 * - `$rewindTo` takes messages back. They were said, so they stay; a notice tells that they no longer count.
 * - A session that is resumed leaves a second file of two lines, which has the same `sessionId`: it is the same session.
 *
 * Not seen: the folder, but for what the context at the start says of it; branch and version; what of a tool's answer is
 * beyond the 50 KB that are kept; sessions that it deletes at its start (30 days old, `general.sessionRetention`).
 *
 * A tool's answer stands in the message that called it and in a message to the model: the latter becomes a `record`.
 */
export const geminiCli: Agent = {
  id: 'gemini-cli',
  displayName: 'Gemini CLI',
  programs: ['gemini'],
  variables: ['GEMINI_CLI_HOME'],
  folder,
  credentials: (variables, home) =>
    ['oauth_creds.json', 'settings.json'].map((file) => join(folder(variables, home), file)),
  settings: {
    path: (variables, home) => join(folder(variables, home), 'settings.json'),
    findRetention,
  },
  roots: (variables, home) => [join(folder(variables, home), 'tmp')],
  isTranscript,
  store: (path) => (path.endsWith('.json') ? DOCUMENT : undefined),
  identify,
  folderOf,
  recordKey,
  parse,
};

/** The variable replaces the home folder. */
function folder(variables: Variables, home: string): string {
  return join(variables.GEMINI_CLI_HOME || home, '.gemini');
}

const DEFAULT_RETENTION_DAYS = 30;

function findRetention({ general }: JsonObject): Retention | undefined {
  const { sessionRetention } = (general ?? {}) as JsonObject;
  const { enabled, maxAge } = (sessionRetention ?? {}) as JsonObject;
  if (enabled === false) return undefined;
  return { setting: 'general.sessionRetention', days: toDays(maxAge) ?? DEFAULT_RETENTION_DAYS };
}

const DAYS: { readonly [unit: string]: number } = { h: 1 / 24, d: 1, w: 7, m: 30 };

/** `30d`, `2w`, `12h`, `1m` (a month). */
function toDays(age: unknown): number | undefined {
  const [, count, unit = ''] = /^(\d+)([hdwm])$/.exec(typeof age === 'string' ? age : '') ?? [];
  return count === undefined ? undefined : Number(count) * (DAYS[unit] ?? 1);
}

const TOLD = ['content'];

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['user', readUser],
  ['gemini', readAnswer],
  ['model', readAnswer], // as it was called at first
  ['info', notice('info', TOLD)],
  ['warning', notice('warning', TOLD)],
  ['error', (remainder) => [draft('error', { text: takeText(remainder, ...TOLD), kind: 'error' })]],
]);

/** A message with another content is another writing of it. */
function recordKey(record: JsonObject): string | undefined {
  const key = keyOf(record, 'id');
  return key && `${key} ${hash('sha256', toJson(record), 'base64url')}`;
}

function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  const checkpoint = parseCheckpoint(remainder, place);
  if (checkpoint !== undefined) return checkpoint;
  const type = peekText(remainder, 'type') ?? '';
  const isMessage = peekText(remainder, 'id') !== undefined;
  const drafts = (READERS.get(type) ?? bareReader(record))?.(remainder, place) ?? [];
  if (drafts.length === 0) drafts.push(draft('record', { kind: type || undefined }));
  if (peek(remainder, 'id') === undefined) takeSame(remainder, place.origin.session, 'sessionId');
  const envelope = {
    agent: geminiCli.id,
    record: takeText(remainder, 'id'),
    revision: isMessage ? place.position : undefined,
    occurredAt: takeFirstText(remainder, ['timestamp'], ['startTime'], ['$set', 'lastUpdated']),
  };
  return compose(remainder, place, envelope, drafts);
}

/** How lines that are no messages are read. */
function bareReader(record: JsonObject): Reader | undefined {
  if (Object.hasOwn(record, '$set')) return readChange;
  if (Object.hasOwn(record, '$rewindTo')) return readRewind;
  return Object.hasOwn(record, 'projectHash') ? facts({ title: ['summary'] }, 'agent') : undefined;
}
