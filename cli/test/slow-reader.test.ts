import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeFolder } from './folder.ts';
import { run } from './program.ts';
import { generateTranscripts } from './transcripts.ts';

const MAIN = join(import.meta.dirname, '..', 'main.ts');
const SHOW = ['import', '--dry-run', '--show'];
/** The capacity of a pipe on Linux. */
const PIPE_BYTES = 65_536;

test('a slow reader of a pipe gets the whole output of a command', async () => {
  const home = makeFolder();
  generateTranscripts(home, { seed: 1, sessions: 4, records: 200 });
  const events = (await run(SHOW, { home })).stdout.split('\n').filter((line) => line.startsWith('{'));
  expect(events.join('').length).toBeGreaterThan(4 * PIPE_BYTES);

  const line = `'${process.execPath}' '${MAIN}' ${SHOW.join(' ')} | (dd bs=1 count=1 2>/dev/null; sleep 0.5; cat)`;
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: { HOME: home }, maxBuffer: 1e8 });
  expect(stdout.split('\n').filter((record) => record.startsWith('{'))).toHaveLength(events.length);
}, 60_000);
