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
 * Versions before 0.40 kept a session as one JSON document, rewritten with each message: its own fields first, then the
 * messages. Its records have the form of newer versions: a header, and one record per message.
 */
const DOCUMENT: DocumentStore = {
  kind: 'document',
  split(text) {
    const document = parseExact(text);
    if (!isObject(document)) throw new Error('it is not a session of Gemini CLI');
    const { messages } = document;
    if (!Array.isArray(messages)) return [{ name: '', records: [document] }];
    const { others } = partition(document, new Set(['messages']));
    return [{ name: '', records: [others, ...recordsOf(messages)] }];
  },
  // The header changes with every message, and an answer changes when its tools have answered.
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
 * Gemini CLI writes one file per session and one per sub-agent (before 0.40 a document, see `DOCUMENT`). A file is a log of
 * changes to a document, one per line.
 * - A message is written again, with the same `id`, when its tools have answered. Each writing is captured as a revision of
 *   the same `source.record`, and the latest counts. Its usage has the message as `responseId`.
 * - `$set` changes the document's own fields. With `messages`, it replaces the whole history: at the start, when a session
 *   is resumed, compacted or interrupted, and when long outputs are cut. Such a checkpoint repeats earlier messages,
 *   shortened or under new ids. It becomes one event of the context, with all of it in `rest`. Two parts are taken out
 *   because they occur nowhere else: the context at the start, and the summary of a compaction.
 * - `$rewindTo` takes messages back. Their events stay, and a notice says that they no longer count.
 * - A resumed session leaves a second file of two lines with the same `sessionId`. It is the same session.
 * Not captured: the folder, unless the context at the start names it; branch and version; the part of a tool's answer beyond
 * the 50 KB that are kept; sessions that it deletes at its start (30 days old, `general.sessionRetention`).
 * A tool's answer is in the message that called it and in a message to the model. The latter becomes a `record`.
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
  // `<project>/chats/session-<time>-<start of id>.jsonl`; for sub-agents `<project>/chats/<session>/<id>.jsonl`.
  isTranscript: (path) => /(^|\/)chats\/.*\.jsonl?$/.test(path),
  store: (path) => (path.endsWith('.json') ? DOCUMENT : undefined),
  identify,
  folderOf,
  plainRecords: ['$set'],
  recordKey,
  restates: ({ $set }) => isObject($set) && Array.isArray($set.messages),
  // A message is written with its calls, and once more with their output.
  bearsEarlierTime: ({ toolCalls }) => toolCalls !== undefined,
  parse,
};

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

function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const [, parent, stem] = /(?:^|\/)chats\/(?:([^/]+)\/)?([^/]+)\.jsonl?$/.exec(path) ?? [];
  if (parent !== undefined && stem !== undefined) return { session: parent, subagent: stem };
  // Without its header, a file has only its name, which contains the start of the id.
  return toOrigin({ session: peekWords(headerOf(first), 'sessionId') ?? stem ?? path.replace(/\.jsonl?$/, '') });
}

/** The first folder of the workspace. Only the context at the start names it, in a text for the model. */
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

/** The phrases of several versions. */
const FOLDERS =
  /^\s*(?:<session_context>\s*)?This is the Gemini CLI\.[\s\S]*?(?:(?:Workspace Directories:\*\*|following directories:)\s*\n\s*- ([^\n]+)|working in the directory: ([^\n]+))/;

/** A message with another content is another writing of it. */
function recordKey(record: JsonObject): string | undefined {
  const key = keyOf(record, 'id');
  return key && keyWithContent(key, record);
}
