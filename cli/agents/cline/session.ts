import { basename, dirname, join } from 'node:path';
import { basename as nameOf } from 'node:path/posix';
import type { CapturedEvent } from '../../../contract/transcript.ts';
import type { JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { toTimestamp } from '../shared/document.ts';
import { compose, type Draft, draft, shareText } from '../shared/events.ts';
import { headerOf, toOrigin } from '../shared/identity.ts';
import { countImages, readBlock, withImages } from '../shared/messages.ts';
import {
  at,
  elementsAt,
  type Part,
  partOf,
  peek,
  peekText,
  peekWords,
  takeInteger,
  takeSame,
  takeText,
} from '../shared/part.ts';
import { facts, usage } from '../shared/readers.ts';

/** `<id>/<id>.json` and its messages; in a folder that is handed in alone, what lies in it. */
export const isSessionFile = (path: string): boolean =>
  /\.(messages|compaction)\.json$/.test(path) || /(^|\/)([^/]+)\/\2\.json$/.test(path);

/** A sub-agent's or a teammate's id is its parent's with its own behind; its file lies in the parent's folder. */
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
  // `<session>/<sub-agent>.messages.json`; a file that is alone somewhere else is named after its session.
  return stem === folder || !/^\d{13}_/.test(folder) ? stem : `${folder}__${stem}`;
}

/** The events of a record of the command line's documents. */
export function parseSession(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const part = partOf(record);
  const { name, drafts, occurredAt } = readRecord(part, place);
  const envelope = { agent: 'cline', record: name, revision: name === undefined ? undefined : 0, occurredAt } as const;
  return compose(part, place, envelope, drafts, peekText(part, 'role'));
}

interface Named {
  name?: string | undefined;
  drafts: Draft[];
  occurredAt?: string | undefined;
}

const readTitle = facts({ title: 'metadata.title' }, 'agent');

function readRecord(part: Part, place: RecordPlace): Named {
  const file = nameOf(place.file);
  if (peekText(part, 'role') !== undefined) {
    const drafts = readMessage(part);
    const name = peekText(part, 'id');
    shareText(part, drafts, { model: 'modelInfo.id', messageId: 'id', responseId: 'id' });
    takeSame(part, 'id', name);
    return { name, drafts, occurredAt: toTimestamp(peek(part, 'ts')) };
  }
  if (peekText(part, 'session_id') !== undefined) return { name: `${file} facts`, drafts: readFacts(part, place) };
  if (peek(part, 'status') !== undefined || peek(part, 'ended_at') !== undefined) {
    return { name: `${file} state`, drafts: readTitle(part), occurredAt: takeText(part, 'ended_at') };
  }
  const occurredAt = takeText(part, 'updated_at');
  if (occurredAt !== undefined) return { name: `${file} updated_at`, drafts: [draft('session.meta', {})], occurredAt };
  return peek(part, 'version') === undefined
    ? { drafts: [] }
    : { name: `${file} header`, drafts: readHeader(part, place) };
}

const readPlace = facts({
  cwd: 'cwd',
  branch: 'metadata.git.branch',
  model: 'model',
  forkedFrom: 'metadata.fork.forkedFromSessionId',
});

/** The first prompt stands in the messages too, so here it stays in `rest`. */
function readFacts(part: Part, { origin }: RecordPlace): Draft[] {
  takeSame(part, 'session_id', origin.session);
  return readPlace(part);
}

function readHeader(part: Part, { origin }: RecordPlace): Draft[] {
  takeSame(part, 'sessionId', origin.session);
  const text = takeText(part, 'system_prompt');
  return text === undefined ? [draft('session.meta', {})] : [draft('context.message', { text, kind: 'system-prompt' })];
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

/** One message: what was typed or put before the model, what tools answered, or a response with its usage. */
function readMessage(part: Part): Draft[] {
  const isUser = peek(part, 'role') === 'user';
  const compaction = readCompaction(part);
  const content = at(part, 'content');
  const texts = peekText(content) === undefined ? [] : [readText(part, content, content)];
  const blocks = elementsAt(content, '').flatMap((block) => {
    if (peek(block, 'type') !== 'text' || !isUser) return readBlock(block);
    return peekText(block, 'text') === undefined ? [] : [readText(part, block, at(block, 'text'))];
  });
  const said = [...compaction, ...texts, ...blocks];
  const drafts = isUser ? withImages(said, countImages(part, 'content')) : said;
  return [...drafts, ...readUsage(part)];
}

/** A user's text; `user_input` says that it was typed. */
function readText(part: Part, block: Part, from: Part): Draft {
  const isTyped = peek(block, 'user_input') !== undefined;
  const kind = isTyped ? undefined : injectedKind(part, peekText(from) ?? '');
  const text = takeText(from) ?? '';
  if (peek(part, 'role') !== 'user') {
    return draft('assistant.message', { text });
  }
  return kind === undefined ? draft('user.message', { text }) : draft('context.message', { text, kind });
}

/** Why a user's text was not typed: the program says so, or wraps it in a tag of its own. */
function injectedKind(part: Part, text: string): string | undefined {
  const shown = peekText(part, 'metadata.displayRole');
  if (shown !== undefined && shown !== 'user') return peekText(part, 'metadata.kind') ?? shown;
  const tag = /^\s*<([\w-]+)/.exec(text)?.[1];
  return tag === 'user_input' || tag === 'user_command' || tag === 'task' ? undefined : tag;
}

/** The summary stands in the text too; the text is what the model saw. */
function readCompaction(part: Part): Draft[] {
  if (peekText(part, 'metadata.kind') !== 'compaction_summary') return [];
  const summary = takeText(part, 'metadata.summary');
  return [draft('compaction', { summary, tokensBefore: takeInteger(part, 'metadata.tokensBefore') })];
}
