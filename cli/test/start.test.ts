import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { VERSION } from '../version.ts';
import { makeFolder } from './folder.ts';

const MAIN = join(import.meta.dirname, '../main.ts');

/** Tells at the end how many files of this repository were loaded, and whether Node's TLS was. */
const TELL = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  let files = 0;
  registerHooks({ load(url, context, next) { files += /\\/(cli|contract|node_modules)\\//.test(url); return next(url, context); } });
  process.on('exit', () => {
    const loadsTls = process.moduleLoadList.includes('NativeModule _tls_wrap');
    process.stderr.write(JSON.stringify({ files, loadsTls }));
  });`)}`;

async function start(...words: string[]) {
  const env = { PATH: process.env.PATH ?? '', HOME: makeFolder() };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', TELL, MAIN, ...words], { env });
  return { stdout, ...(JSON.parse(stderr) as { files: number; loadsTls: boolean }) };
}

test.each(['version', '-v', '-V', '--version'])('capture %s loads nothing but the version', async (word) => {
  const { stdout, files } = await start(word);
  expect(stdout).toBe(`${VERSION}\n`);
  expect(files).toBeLessThan(10);
});

test('what speaks to no service over TLS does not load it', async () => {
  const { files, loadsTls } = await start('help');
  expect(files).toBeGreaterThan(100);
  expect(loadsTls).toBe(false);
});
