import { basename, dirname, join } from 'node:path';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject, Origin, RecordPlace, TranscriptFile } from './agent.ts';
import { splitRuns } from './aider/blocks.ts';
import { compose, type Draft, draft } from './compose.ts';
import { notice, type Reader } from './reader.ts';
import { type Remainder, remainderOf } from './remainder.ts';
import { peekText, takeText } from './typed.ts';

/**
 * Aider adds to one Markdown file per repository, `.aider.chat.history.md`, in which each run begins with a line of its
 * own: a run is a session. A file in another place is asked for by path, or named by `AIDER_CHAT_HISTORY_FILE`.
 *
 * A record is a block of lines of one kind (see `aider/blocks.ts`). The last one may grow: it is captured when the file
 * rests, and again should it grow after all. Its number in its run is the `source.record`.
 *
 * Nothing in the file tells a session's id, its model or exact tokens: "Tokens: 2.1k sent" is left as it is said. A
 * session is named after the time of its start, which has no zone, and the folder.
 */
export const aider: Agent = {
  id: 'aider',
  displayName: 'Aider',
  programs: ['aider'],
  variables: ['AIDER_CHAT_HISTORY_FILE'],
  credentials: (_, home) => [join(home, '.aider.conf.yml')],
  roots: ({ AIDER_CHAT_HISTORY_FILE: file }) => (file ? [dirname(file)] : []),
  isTranscript: (path) => /(^|\/)[^/]*aider[^/]*\.md$/i.test(path),
  store: { kind: 'document', split: splitRuns, isUnsettled: (_, isLast) => isLast },
  identify,
  recordKey: () => undefined,
  parse,
};

function identify({ root, path }: TranscriptFile): Origin {
  const [, file = path, run = 'before'] = /^(.*)#([\w-]*)$/.exec(path) ?? [];
  const cwd = dirname(join(root, file));
  return { session: `${run}-${basename(cwd)}`, cwd };
}

function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  const kind = peekText(remainder, 'kind');
  const drafts = (kind === undefined ? undefined : KINDS.get(kind)?.(remainder, place)) ?? [draft('record', { kind })];
  const occurredAt = kind === 'run' ? takeText(remainder, 'startedAt') : undefined;
  return compose(remainder, place, { agent: 'aider', record: String(place.position), revision: 0, occurredAt }, drafts);
}

const KINDS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['run', () => [draft('session.meta', {})]],
  ['user', (remainder) => [draft('user.message', { text: takeText(remainder, 'text') })]],
  ['output', notice('output', ['text'])],
  ['assistant', readAnswer],
]);

function readAnswer(remainder: Remainder): Draft[] {
  const text = takeText(remainder, 'text');
  return text === undefined ? [draft('record', { kind: 'assistant' })] : [draft('assistant.message', { text })];
}
