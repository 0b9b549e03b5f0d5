import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { DOWNLOADS } from '../../contract/download.ts';
import { quotePowerShell, quoteShell, shellWord } from '../../contract/quote.ts';
import { runs } from '../../contract/test/runs.ts';
import { createDownloads } from './downloads.ts';

const SUM = 'a'.repeat(64);
const opened: FastifyInstance[] = [];
const folder = join(tmpdir(), `downloads-${process.pid}`);
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A service with an archive of a few bytes, or without one. */
async function serve({ publicUrl = 'https://capture.example.com', limit = 0, isBuilt = true } = {}) {
  if (isBuilt) {
    mkdirSync(join(folder, 'install'), { recursive: true });
    writeFileSync(join(folder, 'capture.tgz'), 'package');
    writeFileSync(join(folder, 'install/node-linux-x64.tgz'), 'node');
    writeFileSync(join(folder, 'install/SHA256SUMS'), `${SUM}  capture.tgz\n${SUM}  node-linux-x64.tgz\n`);
  }
  const app = await createDownloads({ folder, publicUrl, limit });
  opened.push(app);
  return app;
}

const addressOf = (path: string) => path.replace('{platform}', 'linux-x64');

test.each(Object.entries(DOWNLOADS))('%s needs no credential, and caches must revalidate it', async (path, row) => {
  const app = await serve();
  const reply = await app.inject(addressOf(path));
  expect(reply.statusCode).toBe(200);
  expect(reply.headers['content-type']).toBe(row.contentType);
  expect(reply.headers['cache-control']).toBe('no-cache');
});

test('an archive that the machine already has is not sent again', async () => {
  const app = await serve();
  const { etag } = (await app.inject('/capture.tgz')).headers;
  const again = await app.inject({ url: '/capture.tgz', headers: { 'if-none-match': String(etag) } });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});

test.each(['/install', '/install.ps1'])('%s names the configured address, not the one in the request', async (path) => {
  const app = await serve();
  const plain = await app.inject(path);
  const hostile = await app.inject({
    url: `${path}?url=http://evil.example`,
    headers: { host: "evil.example';rm -rf ~;'", 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'gopher' },
  });
  expect(hostile.body).toBe(plain.body);
  expect(plain.body).toContain("'https://capture.example.com'");
  expect(plain.body).toContain(SUM);
  expect(plain.body).not.toMatch(/@[A-Z_]+@/);
});

test('the checksums list each archive and each script, so that a person can verify a download', async () => {
  const app = await serve();
  const lines = (await app.inject('/install/SHA256SUMS')).body.trim().split('\n');
  const sums = new Map(lines.map((line) => line.split('  ').reverse() as [string, string]));
  expect([...sums.keys()]).toEqual(['capture.tgz', 'node-linux-x64.tgz', 'install', 'install.ps1']);
  for (const script of ['install', 'install.ps1']) {
    const { body } = await app.inject(`/${script}`);
    expect(sums.get(script)).toBe(createHash('sha256').update(body).digest('hex'));
  }
});

test('a missing build is answered with the command that builds it', async () => {
  const app = await serve({ isBuilt: false });
  for (const path of Object.keys(DOWNLOADS)) {
    expect(await app.inject(addressOf(path))).toMatchObject({
      statusCode: 503,
      body: 'The command line is not built. Run: npm run build\n',
    });
  }
});

test('one address has a download limit', async () => {
  const app = await serve({ limit: 2 });
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await app.inject('/capture.tgz')).statusCode);
  expect(statuses).toEqual([200, 200, 429]);
  const other = await app.inject({ url: '/capture.tgz', headers: { 'x-forwarded-for': '192.0.2.7' } });
  expect(other.statusCode).toBe(200);
});

test('files beside the archives are not served', async () => {
  const app = await serve();
  writeFileSync(join(folder, '..', `outside-${process.pid}`), 'x');
  for (const url of [
    '/install/../../outside',
    `/install/..%2f..%2foutside-${process.pid}`,
    '/install/',
    '/install/x',
  ]) {
    expect((await app.inject(url)).statusCode).toBe(404);
  }
  rmSync(join(folder, '..', `outside-${process.pid}`));
});

test('a configured address with any characters is one word to a shell', () => {
  const texts = fc.array(
    fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(texts, (words) => {
      const script = words.map((word) => `printf '%s\\0' ${quoteShell(word)} ${shellWord(word)}`).join('\n');
      const told = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
      const expected = words.map((word) => word.toWellFormed()).flatMap((word) => [word, word]);
      expect(told.split('\0').slice(0, -1)).toEqual(expected);
    }),
    runs(20),
  );
});

test('the script for Windows takes every path as it is, and unpacks with the tar of Windows', async () => {
  const script = (await (await serve()).inject('/install.ps1')).body;
  const commands = script.match(/\b(Test-Path|Move-Item|Remove-Item -Recurse|Get-FileHash|Set-Content)\b.*/g) ?? [];
  expect(commands.length).toBeGreaterThan(6);
  for (const command of commands) expect(command).toContain('-LiteralPath');
  expect(script).toContain("Join-Path $env:SystemRoot 'System32\\tar.exe'");
  expect(script).not.toMatch(/& tar/);
});

test('the launcher for Windows looks for Node.js in the PATH, and never in the current folder', async () => {
  const script = (await (await serve()).inject('/install.ps1')).body;
  const lines = script.split('\n').filter((line) => line.includes('capture_node'));
  const [, fallback = ''] = lines.filter((line) => line.includes('node='));
  expect(fallback.trim()).toBe(
    `'if not exist "%capture_node%" for %%I in (node.exe) do set "capture_node=%%~$PATH:I"'`,
  );
  expect(lines.join('\n')).not.toContain('=node.exe');
});

test('every quotation mark that PowerShell knows is doubled', () => {
  expect(quotePowerShell("a'b\u2018c\u2019$(x)")).toBe("'a''b\u2018\u2018c\u2019\u2019$(x)'");
});
