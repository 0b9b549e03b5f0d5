import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startRealService } from '../test/real-service.ts';

const fixture = fileURLToPath(new URL('../test/agents/fixtures/opencode/opencode-2.sql', import.meta.url));

/** A machine with sessions of OpenCode 2, one of which is a fork that begins with a message of another. */
async function setUp() {
  const real = await startRealService();
  const path = join(real.home, '.local/share/opencode/opencode.db');
  mkdirSync(dirname(path), { recursive: true });
  const db = new DatabaseSync(path);
  db.exec(readFileSync(fixture, 'utf8'));
  db.exec(`INSERT INTO session_message SELECT 'msg_copy_' || seq, 'ses_2fork', type, seq, time_created, time_updated, data
    FROM session_message WHERE session_id = 'ses_2main' AND seq <= 3`);
  db.close();
  const said = async () =>
    (await real.events())
      .flatMap(({ eventType, payload }) => (eventType === 'user.message' ? [payload.text] : []))
      .sort();
  return { ...real, said };
}

test('a fork of a session of OpenCode 2 that was skipped before anything of it was captured is kept back, too', async () => {
  const { run, said } = await setUp();
  expect(await run('skip', 'ses_2main')).toMatchObject({ exitCode: 0 });
  await run('import');
  expect(await said()).toEqual(['Send the invoices', 'Write invoices']);
});

test('sessions of OpenCode 2 are verified, with forks and with a session from version 1', async () => {
  const { run, said, verify } = await setUp();
  expect(await run('import')).toMatchObject({ exitCode: 0, stderr: '' });
  const prompts = [
    'Add discounts to the prices, see the picture',
    'And taxes',
    'Only for members',
    'Send the invoices',
  ];
  expect(await said()).toEqual([...prompts, 'Write invoices']);
  expect(await verify()).toMatchObject({ exitCode: 0, problems: {} });
});
