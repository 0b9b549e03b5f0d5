import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inspectHooks } from '../hooks/inspect.ts';
import { makeFolder, write } from '../test/folder.ts';
import { createContext, type RunOptions, run } from '../test/program.ts';
import { startService } from '../test/service.ts';

const CONFIG = '# mine\nmodel = "x" # kept\n\n[features]\nfoo = true';

/** Answers as Codex 0.169 was seen to: it lists the hooks of its file, and adds a table for each trusted one. */
const APP_SERVER = `
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const folder = process.env.HOME + '/.codex';
const config = () => readFileSync(folder + '/config.toml', 'utf8');
const list = () => Object.entries(JSON.parse(readFileSync(folder + '/hooks.json', 'utf8')).hooks).flatMap(([event, groups]) =>
  groups.map(({ hooks: [{ command }] }, index) => {
    const name = event.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase();
    const key = folder + '/hooks.json:' + name + ':' + index + ':0';
    const trustStatus = config().includes(JSON.stringify(key)) ? 'trusted' : 'untrusted';
    return { key, command, sourcePath: folder + '/hooks.json', currentHash: 'sha256:' + name, trustStatus };
  }));
if (process.argv[2] !== 'app-server') { console.log('codex-cli 0.169.0'); process.exit(); }
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  if (process.env.REFUSES === method) { console.log(JSON.stringify({ id, error: { message: 'not allowed' } })); continue; }
  let result = {};
  if (method === 'hooks/list') result = { data: [{ hooks: list() }] };
  if (method === 'config/batchWrite') for (const { keyPath, value } of params.edits)
    appendFileSync(folder + '/config.toml', '\\n\\n[' + keyPath.replace(/\\.trusted_hash$/, '') + ']\\ntrusted_hash = "' + value + '"\\n');
  console.log(JSON.stringify({ method: 'a/notice' }) + '\\n' + JSON.stringify({ id, result }));
}
`;

async function prepare() {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const program = write(join(home, 'codex.mjs'), APP_SERVER);
  write(join(home, 'programs/codex'), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`, 0o755);
  const config = write(join(home, '.codex/config.toml'), CONFIG);
  const theirs = { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'theirs' }] }] } };
  write(join(home, '.codex/hooks.json'), JSON.stringify(theirs, undefined, 2));
  const capture = (args: string[], { variables, ...options }: Partial<RunOptions> = {}) => {
    const all = { PATH: `${join(home, 'programs')}:/usr/bin:/bin`, ...variables };
    return run([...args], { home, url: service.url, secret: 'sk_live_test', variables: all, ...options });
  };
  const read = () => readFileSync(config, 'utf8');
  return { home, config, read, capture };
}

const INIT = ['init', '--no-daemon', '--agent', 'codex'];

test('Codex is told to trust our hooks and no others, and uninstall takes that back', async () => {
  const { read, capture } = await prepare();
  const result = await capture([...INIT, '--yes']);
  expect(result).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Codex now trusts 6 hooks of capture') });
  expect(read()).toContain('hooks.json:stop:1:0"]\ntrusted_hash = "sha256:stop"');
  expect(read()).not.toContain(':stop:0:0');
  const again = await capture([...INIT, '--yes', '--json']);
  expect(JSON.parse(again.stdout)).toMatchObject({ codexTrust: 'already' });
  await capture(['uninstall']);
  expect(read()).toBe(CONFIG);
});

test('what Codex writes into its configuration afterwards stays after uninstall', async () => {
  const { config, read, capture } = await prepare();
  await capture([...INIT, '--yes']);
  write(config, `${read()}\n[projects."/x"]\ntrust_level = "trusted"\n`);
  await capture(['uninstall']);
  expect(read()).not.toContain('hooks.state');
  expect(read()).toMatch(
    /^# mine\nmodel = "x" # kept\n\n\[features\]\nfoo = true\s+\[projects\."\/x"\]\ntrust_level = "trusted"\n$/,
  );
});

test('trust is asked for on its own, and may be refused', async () => {
  const { read, capture } = await prepare();
  const result = await capture(INIT, { isTTY: true, input: 'y\nn\n' });
  expect(result.exitCode).toBe(0);
  expect(result.stderr).toMatch(/Have Codex trust the entries that run `capture`'s hook in .*hooks\.json\?/);
  expect(result.stderr).toContain('type /hooks in Codex');
  expect(read()).toBe(CONFIG);
});

test('with --no-trust Codex is not told anything', async () => {
  const { read, capture } = await prepare();
  expect((await capture([...INIT, '--yes', '--no-trust'])).stderr).toContain('type /hooks in Codex');
  expect(read()).toBe(CONFIG);
});

test('a Codex that refuses is told of, and the hooks stay', async () => {
  const { home, capture } = await prepare();
  const result = await capture([...INIT, '--yes'], { variables: { REFUSES: 'config/batchWrite' } });
  expect(result.exitCode).toBe(1);
  expect(result.stderr).toContain('Codex was not told to trust the hooks: not allowed.');
  expect(readFileSync(join(home, '.codex/hooks.json'), 'utf8')).toContain('bin/hook codex');
});

test('trust in hooks that have changed since is not taken for trust, unless Codex notes it anew', async () => {
  const { home, config, read, capture } = await prepare();
  const { context } = createContext({ home });
  const trusted = async () => (await inspectHooks(context)).find(({ agent }) => agent === 'codex')?.trusted;
  await capture([...INIT, '--yes']);
  expect(await trusted()).toBe(true);
  const path = join(home, '.codex/hooks.json');
  write(path, readFileSync(path, 'utf8').replaceAll('hook codex', 'hook codex --changed'));
  expect(await trusted()).toBe(false);
  write(config, read().replaceAll('"sha256:', '"sha256:other-'));
  expect(await trusted()).toBe(true);
  write(config, read().replace(/trusted_hash = .*/, ''));
  expect(await trusted()).toBe(false);
});
