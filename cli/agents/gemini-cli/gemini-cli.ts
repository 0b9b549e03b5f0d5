import { parseExact } from '../../exact.ts';
import type { Agent, JsonObject, Origin, Retention, TranscriptFile } from '../agent.ts';
import { partition, recordsOf } from '../shared/document.ts';
import { headerOf, keyOf, keyWithContent, toOrigin } from '../shared/identity.ts';
import { locate } from '../shared/locations.ts';
import { textsAt } from '../shared/messages.ts';
import { elementsAt, isObject, partOf, peekText, peekWords } from '../shared/part.ts';
import type { DocumentStore } from '../store.ts';
import { parse } from './parse.ts';

/**
 * Versions before 0.40 kept a session as one JSON document, written anew with each message: its own fields first, then
 * the messages. As records they are what newer versions write: a header, and a message each.
 */
const DOCUMENT: DocumentStore = {
  kind: 'document',
  split(text) {
    const document = parseExact(text);
    if (!isObject(document)) throw new Error('it is no session of Gemini CLI');
    const { messages } = document;
    if (!Array.isArray(messages)) return [{ name: '', records: [document] }];
    const { others } = partition(document, new Set(['messages']));
    return [{ name: '', records: [others, ...recordsOf(messages)] }];
  },
  // Its header changes with every message, and an answer when its tools have answered.
  isUnsettled: (record, isLast) => isLast || Object.hasOwn(record, 'sessionId'),
};

const places = locate({
  folder: '.gemini',
  movedBy: 'GEMINI_CLI_HOME',
  movesHome: true,
  roots: ['tmp'],
  credentials: ['oauth_creds.json', 'settings.json'],
});

/**
 * Gemini CLI writes a file per session and one per sub-agent (before 0.40 a document, see `DOCUMENT`): a log of changes to
 * a document, a change per line.
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
  ...places,
  settings: {
    path: places.inFolder('settings.json'),
    findRetention,
  },
  startHook: {
    path: places.inFolder('settings.json'),
    events: ['SessionStart'],
    entry: (command) => ({ hooks: [{ name: 'session-capture', type: 'command', command, timeout: HOOK_MS }] }),
  },
  // `<project>/chats/session-<time>-<start of id>.jsonl`; of sub-agents `<project>/chats/<session>/<id>.jsonl`.
  isTranscript: (path) => /(^|\/)chats\/.*\.jsonl?$/.test(path),
  store: (path) => (path.endsWith('.json') ? DOCUMENT : undefined),
  identify,
  folderOf,
  recordKey,
  restates: ({ $set }) => isObject($set) && Array.isArray($set.messages),
  // It is written with its calls, and once more with their output.
  bearsEarlierTime: ({ toolCalls }) => toolCalls !== undefined,
  parse,
};

const DEFAULT_RETENTION_DAYS = 30;
const HOOK_MS = 5000;

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

function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const [, parent, stem] = /(?:^|\/)chats\/(?:([^/]+)\/)?([^/]+)\.jsonl?$/.exec(path) ?? [];
  if (parent !== undefined && stem !== undefined) return { session: parent, subagent: stem };
  // Without its header a file is known only by the name, which has but the start of the id.
  return toOrigin({ session: peekWords(headerOf(first), 'sessionId') ?? stem ?? path.replace(/\.jsonl?$/, '') });
}

/** The first folder of the workspace, which the context at the start tells the model, and nothing else. */
function folderOf(record: JsonObject): string | undefined {
  const part = partOf(record);
  const messages = [part, ...elementsAt(part, '$set.messages').slice(0, 1)];
  const texts = messages.flatMap((message) => textsAt(message, 'content')).slice(0, 4);
  for (const text of texts) {
    const [, listed, named] = FOLDERS.exec(peekText(text)?.slice(0, 4000) ?? '') ?? [];
    const folder = (listed ?? named)?.trim();
    if (folder) return folder;
  }
  return undefined;
}

/** As several versions have put it. */
const FOLDERS =
  /^\s*(?:<session_context>\s*)?This is the Gemini CLI\.[\s\S]*?(?:(?:Workspace Directories:\*\*|following directories:)\s*\n\s*- ([^\n]+)|working in the directory: ([^\n]+))/;

/** A message with another content is another writing of it. */
function recordKey(record: JsonObject): string | undefined {
  const key = keyOf(record, 'id');
  return key && keyWithContent(key, record);
}
