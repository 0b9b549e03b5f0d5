import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSpool } from '../spool/open.ts';
import { makeFolder, write } from '../test/folder.ts';
import { createContext } from '../test/program.ts';
import { prompt, sessionId } from '../test/transcripts.ts';
import { inspectTranscripts } from './transcripts.ts';

test.each([
  [
    'from before the decisions about sessions were lost stays here, although its agent still writes it',
    true,
    { earlier: 1, unread: 0 },
  ],
  ['that continues after the consent waits', undefined, { earlier: 0, unread: 1 }],
])('a session %s', (_, isLost, counts) => {
  const home = makeFolder();
  const { context } = createContext({ home });
  // The file is changed after this time, and its session began before.
  const since = Date.now() - 60_000;
  write(join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`), `${prompt(1, 1, 'one')}\n`);
  const spool = openSpool(':memory:');
  spool.decisions.setConsent({ since, history: 'none', ...(isLost && { isLost }) });
  spool.sessions.ensure('claude-code', 'another');
  const { agents } = inspectTranscripts(context, spool, true);
  spool.close();
  const claude = agents.find(({ agent }) => agent.id === 'claude-code');
  expect({ earlier: claude?.earlier, unread: claude?.unread.length }).toEqual(counts);
});
