import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { writeConsent } from '../privacy/consent.ts';
import { VERSION } from '../version.ts';
import { makeFolder, write } from './folder.ts';
import { start as startProgram } from './program.ts';
import { startService } from './service.ts';
import { prompt, sessionId } from './transcripts.ts';

const MAIN = join(import.meta.dirname, '../main.ts');

/** Prints on exit how many files of this repository the process loaded, and whether it loaded Node's TLS. */
const TELL = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  let files = 0;
  registerHooks({ load(url, context, next) { files += /\\/(cli|contract|transcript|node_modules)\\//.test(url); return next(url, context); } });
  process.on('exit', () => {
    const loadsTls = process.moduleLoadList.includes('NativeModule _tls_wrap');
    process.stderr.write(JSON.stringify({ files, loadsTls }));
  });`)}`;

async function start(...words: string[]) {
  const env = { PATH: process.env.PATH ?? '', HOME: makeFolder() };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', TELL, MAIN, ...words], { env });
  return { stdout, ...(JSON.parse(stderr) as { files: number; loadsTls: boolean }) };
}

test.each(['version', '-v', '-V', '--version'])('capture %s loads fewer than ten files', async (word) => {
  const { stdout, files } = await start(word);
  expect(stdout).toBe(`${VERSION}\n`);
  expect(files).toBeLessThan(10);
});

test('a command that needs no TLS does not load it', async () => {
  const { files, loadsTls } = await start('help');
  expect(files).toBeGreaterThan(100);
  expect(loadsTls).toBe(false);
});

test('the daemon runs without the optimizing compiler until it has much to read', async () => {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const path = join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`);
  const say = (count: number) =>
    write(path, Array.from({ length: count }, (_, id) => `${prompt(1, id, `${'word '.repeat(200)}${id}`)}\n`).join(''));
  const captured = (count: number) =>
    vi.waitFor(() => expect(service.eventsBySession().get(sessionId(1))).toHaveLength(count), { timeout: 60_000 });
  const options = { home, url: service.url, secret: 'sk_live_test' };
  writeConsent({ home, variables: { CAPTURE_HOME: join(home, 'state') } }, { since: 0, history: 'all' });
  say(1);
  const daemon = startProgram(['run'], options, ['--trace-opt']);
  onTestFinished(() => daemon.signal('SIGKILL'));
  const optimized = () => daemon.output().match(/for optimization to \w+/g)?.length ?? 0;
  await captured(1);
  // Node optimizes a few of its loader's functions while it loads the first files.
  expect(optimized()).toBeLessThan(10);
  say(3000);
  await captured(3000);
  expect(optimized()).toBeGreaterThan(20);
});
