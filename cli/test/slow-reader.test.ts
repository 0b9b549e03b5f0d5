import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeFolder } from './folder.ts';
import { run } from './program.ts';
import { generateTranscripts } from './transcripts.ts';

const MAIN = join(import.meta.dirname, '..', 'main.ts');
const SHOW = ['import', '--dry-run', '--show'];
/** What fits into a pipe on Linux before somebody reads. */
const PIPE_BYTES = 65_536;

test('all of a long answer arrives, however late it is read', async () => {
  const home = makeFolder();
  generateTranscripts(home, { seed: 1, sessions: 4, records: 200 });
  const events = (await run(SHOW, { home })).stdout.split('\n').filter((line) => line.startsWith('{'));
  expect(events.join('').length).toBeGreaterThan(4 * PIPE_BYTES);

  const line = `'${process.execPath}' '${MAIN}' ${SHOW.join(' ')} | (sleep 2; cat)`;
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: { HOME: home }, maxBuffer: 1e8 });
  expect(stdout.split('\n').filter((text) => text.startsWith('{'))).toHaveLength(events.length);
}, 60_000);

test('a reader that has seen enough is no error', async () => {
  const home = makeFolder();
  generateTranscripts(home, { seed: 1, sessions: 4, records: 200 });
  const child = spawn(process.execPath, [MAIN, ...SHOW], { env: { HOME: home } });
  child.stdout.once('data', () => child.stdout.destroy());
  const said = text(child.stderr);
  await once(child, 'exit');
  expect(await said).not.toMatch(/EPIPE|Error/);
}, 30_000);
