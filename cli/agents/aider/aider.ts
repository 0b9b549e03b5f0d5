import { basename, dirname, join } from 'node:path';
import type { Agent, Origin, TranscriptFile } from '../agent.ts';
import { parser } from '../shared/parser.ts';
import { peekText } from '../shared/part.ts';
import { event, facts, notice } from '../shared/readers.ts';
import { splitRuns } from './blocks.ts';

/**
 * Aider appends to one Markdown file per repository, `.aider.chat.history.md`. Each run begins with a heading and is a
 * session. A file elsewhere must be named by path or by `AIDER_CHAT_HISTORY_FILE`.
 * A record is a block of lines of one kind (see `blocks.ts`). The last block may grow. It is captured when the file is at
 * rest, and again if it grows after that. Its number in its run is the `source.record`.
 * The file contains no session id, model or exact tokens: "Tokens: 2.1k sent" stays as written. A session is named after its
 * folder and its start time, which has no time zone.
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
  parse: parser({
    agent: 'aider',
    kindOf: (part) => peekText(part, 'kind') ?? '',
    readers: {
      run: facts({}),
      user: event('user.message', { text: 'text' }),
      output: notice('output', 'text'),
      assistant: event('assistant.message', { text: 'text' }),
    },
    envelope: { occurredAt: 'startedAt' },
    writingOf: (_, { position }) => ({ record: String(position), revision: 0 }),
  }),
};

function identify({ root, path }: TranscriptFile): Origin {
  const [, file = path, run = 'before'] = /^(.*)#([\w-]*)$/.exec(path) ?? [];
  const cwd = dirname(join(root, file));
  return { session: `${run}-${basename(cwd)}`, cwd };
}
