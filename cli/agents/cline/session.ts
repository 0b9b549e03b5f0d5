import { basename, dirname, join } from 'node:path';
import { basename as nameOf } from 'node:path/posix';
import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import type { JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { partition, recordsOf, toTimestamp } from '../shared/document.ts';
import { compose, type Draft, draft, shareText } from '../shared/events.ts';
import { headerOf, toOrigin } from '../shared/identity.ts';
import { readInput, readResponse } from '../shared/messages.ts';
import { isObject, type Part, partOf, peek, peekText, peekWords, takeSame, takeText } from '../shared/part.ts';
import { event, facts, usage } from '../shared/readers.ts';
import type { DocumentSession } from '../store.ts';

/** `<id>/<id>.json` and its messages. If that folder itself was named, the files in it. */
export const isSessionFile = (path: string): boolean =>
  /\.(messages|compaction)\.json$/.test(path) || /(^|\/)([^/]+)\/\2\.json$/.test(path);

/** The id of a sub-agent or teammate is its parent's id with its own id appended. Its file is in the parent's folder. */
export function identifySession({ root, path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const header = headerOf(first);
  const named = peekWords(header, 'session_id', 'sessionId') ?? pathId(join(root, path));
  const [, session = named, subagent] = /^(.+?)__(.+)$/.exec(named) ?? [];
  return toOrigin({
    session,
    subagent,
    agentVersion: peekWords(header, 'origin.version', 'metadata.sessionHistoryOrigin.version'),
    cwd: peekWords(header, 'cwd'),
    branch: peekWords(header, 'metadata.git.branch'),
    forkedFrom: peekWords(header, 'metadata.fork.forkedFromSessionId'),
  });
}

function pathId(path: string): string {
  const stem = basename(path).replace(/(\.messages|\.compaction)?\.json$/, '');
  const folder = basename(dirname(path));
  // `<session>/<sub-agent>.messages.json`. A file that is alone somewhere else is named after its session.
  return stem === folder || !/^\d{13}_/.test(folder) ? stem : `${folder}__${stem}`;
}

/** The events of a record from the command line's documents. */
export function parseSession(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const part = partOf(record);
  const role = peekText(part, 'role');
  const found = role === undefined ? RECORDS.find(({ mark }) => peek(part, mark) !== undefined) : MESSAGE;
  const drafts = found?.read(part) ?? [];
  const name = found === MESSAGE ? peekText(part, 'id') : found && `${nameOf(place.file)} ${found.name}`;
  shareText(part, drafts, { model: 'modelInfo.id', messageId: 'id', responseId: 'id' });
  takeSame(part, 'id', name);
  for (const field of ['session_id', 'sessionId']) takeSame(part, field, place.origin.session);
  const occurredAt = found?.time === undefined ? toTimestamp(peek(part, 'ts')) : takeText(part, found.time);
  const revision = name === undefined ? undefined : 0;
  return compose(part, place, { agent: 'cline', record: name, revision, occurredAt }, drafts, role);
}

interface RecordKind {
  /** The field that only such a record has. */
  mark: string;
  name: string;
  read: (part: Part) => Draft[];
  /** The path of its time, if not `ts`. */
  time?: string;
}

const MESSAGE: RecordKind = { mark: 'role', name: 'message', read: readMessage };
const STATE = { name: 'state', read: facts({ title: 'metadata.title' }, 'agent'), time: 'ended_at' };

/** Records that are not messages. */
const RECORDS: readonly RecordKind[] = [
  // The messages contain the first prompt too, so here it stays in `rest`.
  {
    mark: 'session_id',
    name: 'facts',
    read: facts({
      cwd: 'cwd',
      branch: 'metadata.git.branch',
      model: 'model',
      forkedFrom: 'metadata.fork.forkedFromSessionId',
    }),
  },
  { mark: 'status', ...STATE },
  { mark: 'ended_at', ...STATE },
  { mark: 'updated_at', name: 'updated_at', read: facts({}), time: 'updated_at' },
  { mark: 'version', name: 'header', read: readHeader },
];

function readHeader(part: Part): Draft[] {
  const text = takeText(part, 'system_prompt');
  return [text === undefined ? draft('session.meta', {}) : draft('context.message', { text, kind: 'system-prompt' })];
}

const readUsage = usage(
  {
    inputTokens: 'metrics.inputTokens',
    outputTokens: 'metrics.outputTokens',
    cacheReadTokens: 'metrics.cacheReadTokens',
    cacheWriteTokens: 'metrics.cacheWriteTokens',
  },
  'included',
);

/** One message: a prompt, injected texts, results of tools, or a response with its usage. */
function readMessage(part: Part): Draft[] {
  const isUser = peek(part, 'role') === 'user';
  const compaction = readCompaction(part);
  const said = isUser
    ? readInput(part, 'content', (text, block) => injectedKind(part, text, block))
    : readResponse(part, 'content');
  return [...compaction, ...said, ...readUsage(part)];
}

/** Why a user's text was not typed. The program says so, or wraps the text in a tag of its own. */
function injectedKind(part: Part, text: string, block: Part): string | undefined {
  // This field says that it was typed.
  if (peek(block, 'user_input') !== undefined) return undefined;
  const shown = peekText(part, 'metadata.displayRole');
  if (shown !== undefined && shown !== 'user') return peekText(part, 'metadata.kind') ?? shown;
  const tag = /^\s*<([\w-]+)/.exec(text)?.[1];
  return tag === 'user_input' || tag === 'user_command' || tag === 'task' ? undefined : tag;
}

/** The text contains the summary too, and the model saw the text. */
const readSummary = event('compaction', { summary: 'metadata.summary', tokensBefore: 'metadata.tokensBefore' });

const readCompaction = (part: Part): Draft[] =>
  peekText(part, 'metadata.kind') === 'compaction_summary' ? readSummary(part) : [];

/** The facts of a session that change while it runs. */
const CHANGES = new Set(['status', 'ended_at', 'exit_code', 'metadata']);
/** The parts of `metadata` that do not change. */
const LASTING = new Set(['sessionHistoryOrigin', 'git', 'fork']);

/** The records of a document of the command line. Throws if it is not such a document. */
export function splitSession(document: unknown): DocumentSession {
  if (!isObject(document)) throw new Error('it is not the document of a session');
  if (typeof document.session_id === 'string') return { name: '', records: splitFacts(document) };
  if (!Array.isArray(document.messages)) throw new Error('it is not the document of a session');
  return splitMessages(document, document.messages);
}

function splitFacts(document: JsonObject): JsonObject[] {
  const { named: changes, others: facts } = partition(document, CHANGES);
  if (isObject(changes.metadata)) {
    const { named: lasting, others: changing } = partition(changes.metadata, LASTING);
    facts.metadata = lasting;
    changes.metadata = changing;
    for (const part of [facts, changes]) if (!isFull(part.metadata as JsonObject)) delete part.metadata;
  }
  return [facts, changes].filter(isFull);
}

const isFull = (record: JsonObject) => Object.keys(record).length > 0;

/** Before its first message, it is not a session yet, and the header does not name the folder either. */
function splitMessages(document: JsonObject, messages: unknown[]): DocumentSession {
  if (messages.length === 0) return { name: '', records: [] };
  const { updated_at, ...header } = partition(document, new Set(['messages'])).others;
  const changed = updated_at === undefined ? {} : { updated_at };
  const records = [header, ...recordsOf(messages).map(unwrap), changed];
  return { name: '', records: records.filter(isFull), folder: folderIn(header.system_prompt) };
}

const folderIn = (prompt: unknown): string | undefined =>
  typeof prompt === 'string' ? /Working Directory: (.+)/.exec(prompt)?.[1]?.trim() : undefined;

const WRAPPED = /^<user_input mode="(\w*)">((?:(?!<\/?user_input)[\s\S])*)<\/user_input>$/;

/** A prompt is wrapped. The mode becomes a separate field, so that the text is exactly the typed one. */
function unwrap(message: JsonObject): JsonObject {
  const { content, role } = message;
  if (role !== 'user' || !Array.isArray(content)) return message;
  return { ...message, content: content.map(unwrapBlock) };
}

function unwrapBlock(block: unknown): unknown {
  if (!isObject(block) || typeof block.text !== 'string' || block.user_input !== undefined) return block;
  const [, mode, text] = WRAPPED.exec(block.text) ?? [];
  return text === undefined ? block : { ...block, text, user_input: { mode } };
}
