import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codex } from '../cli/agents/codex/codex.ts';
import { makeFolder, write } from '../cli/test/folder.ts';
import { openReading } from '../cli/test/reading.ts';
import { createMachineRedactor } from '../cli/test/redacting.ts';
import { made } from './test/made.ts';

test('the facts that open a session are masked, too', async () => {
  const secret = made('alnum', 30);
  const id = '22222222-3333-4444-8555-666666666666';
  const records = [
    {
      type: 'session_meta',
      payload: { id, cwd: `/home/dev/${secret}`, cli_version: `0.1-${secret}`, git: { branch: `fix-${secret}` } },
    },
    { type: 'event_msg', payload: { type: 'user_message', message: `my key is ${secret}` } },
  ].map((record) => ({ timestamp: '2026-11-01T10:00:00.000Z', ...record }));
  const root = makeFolder();
  const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  write(join(root, `2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`), lines);
  const redactor = createMachineRedactor({
    variables: {},
    home: '/nowhere',
    secrets: [secret],
    key: new Uint8Array(32),
  });
  const { spool, read } = openReading(root, ':memory:', { agent: codex, redactor });
  await read();
  const [waiting] = spool.batches.perSession();
  const facts = spool.sessions.get(waiting?.session ?? 0);
  expect(facts).toMatchObject({ agentSession: id, cwd: expect.stringContaining('[REDACTED:known-value:') });
  expect(JSON.stringify(facts)).not.toContain(secret);
});
