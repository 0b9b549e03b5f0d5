import { basename, dirname, join } from 'node:path';
import type { CapturedEvent } from '../../../contract/transcript.ts';
import type { Agent, JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { compose } from '../shared/events.ts';
import { partOf, peekText, takeText } from '../shared/part.ts';
import { event, facts, notice, type Reader } from '../shared/readers.ts';
import { splitRuns } from './blocks.ts';

/**
 * Aider adds to one Markdown file per repository, `.aider.chat.history.md`, in which each run begins with a line of its
 * own: a run is a session. A file in another place is asked for by path, or named by `AIDER_CHAT_HISTORY_FILE`.
 *
 * A record is a block of lines of one kind (see `blocks.ts`). The last one may grow: it is captured when the file
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
  hasLocalIds: true,
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
  const part = partOf(record);
  const kind = peekText(part, 'kind');
  const drafts = READERS.get(kind ?? '')?.(part, place) ?? [];
  const occurredAt = kind === 'run' ? takeText(part, 'startedAt') : undefined;
  return compose(
    part,
    place,
    { agent: 'aider', record: String(place.position), revision: 0, occurredAt },
    drafts,
    kind,
  );
}

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['run', facts({})],
  ['user', event('user.message', { text: 'text' })],
  ['output', notice('output', 'text')],
  ['assistant', event('assistant.message', { text: 'text' })],
]);
