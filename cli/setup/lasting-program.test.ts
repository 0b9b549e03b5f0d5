import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { losePatience } from '../test/impatience.ts';
import { run } from '../test/program.ts';
import { findMissingProgram } from './daemon.ts';
import { planProgram } from './lasting-program.ts';

/** One that stays, wherever this repository lies. */
const NODE = '/usr/lib/node/bin/node';

/** A home that is not below a temporary folder, as far as names tell. */
function plan(program: string[], variables = {}) {
  return planProgram({ program, home: '/home/u', platform: 'linux', variables });
}

test.each([
  ['/home/u/.npm/_npx/1f/node_modules/.bin/capture.js'],
  ['/home/u/.cache/pnpm/dlx/1f/node_modules/capture.js'],
  ['/tmp/bunx-0-capture/node_modules/capture.js'],
  ['/private/var/folders/x/capture.js', '/private/var/folders'],
])('started from %s, which goes, a copy is run', (script, TMPDIR = '') => {
  expect(plan([NODE, script], { TMPDIR })).toEqual({
    program: [NODE, '/home/u/.capture/bin/capture.cjs'],
    copies: [{ from: script, to: '/home/u/.capture/bin/capture.cjs' }],
  });
});

test('what stays is run where it is: installed, a clone, a version manager', () => {
  for (const script of [
    '/usr/lib/node_modules/x/capture.js',
    '/home/u/clone/cli/main.ts',
    '/home/u/.capture/bin/capture.cjs',
  ]) {
    const node = '/home/u/.nvm/versions/node/v24.1.0/bin/node';
    expect(plan([node, script])).toEqual({ program: [node, script], copies: [] });
  }
});

test('a clone in a temporary folder is not copied, but told of', () => {
  const program = ['/tmp/clone/node_modules/node/bin/node', '/tmp/clone/cli/main.ts'];
  expect(plan(program)).toEqual({ program, copies: [], fleeting: '/tmp/clone/cli/main.ts' });
});

test('an executable and a Node that go are copied whole', () => {
  expect(plan(['/tmp/capture-linux']).copies).toEqual([
    { from: '/tmp/capture-linux', to: '/home/u/.capture/bin/capture' },
  ]);
  expect(plan(['/home/u/.npm/_npx/1/node_modules/node/bin/node', '/opt/capture.js']).program).toEqual([
    '/home/u/.capture/bin/node',
    '/opt/capture.js',
  ]);
});

test("a link of fnm's, made for one shell, is followed; Homebrew's own spelling is kept", () => {
  const folder = makeFolder();
  const node = write(join(folder, 'Cellar/node/24.1.0/bin/node'), '');
  mkdirSync(join(folder, 'opt'));
  symlinkSync('../Cellar/node/24.1.0', join(folder, 'opt/node'));
  mkdirSync(join(folder, 'fnm_multishells/1'), { recursive: true });
  symlinkSync('/etc/hostname', join(folder, 'fnm_multishells/1/capture.js'));
  const variables = { CAPTURE_HOME: folder };
  const { program } = planProgram({ program: [node], home: '/home/u', platform: 'linux', variables });
  expect(program).toEqual([join(folder, 'opt/node/bin/node')]);
  const linked = join(folder, 'fnm_multishells/1/capture.js');
  expect(planProgram({ program: [NODE, linked], home: '/h', platform: 'linux', variables: {} }).program).toEqual([
    NODE,
    '/etc/hostname',
  ]);
});

test('init makes the copy, which runs by itself; uninstall takes it away, and what is missing can be told', async () => {
  losePatience();
  const home = makeFolder();
  const bundle = write(join(home, '_npx/1/capture.js'), 'require("node:fs"); console.log("ran", process.argv[2])');
  write(join(home, 'package.json'), '{"type": "module"}');
  write(join(home, '.qwen/settings.json'), '{}');
  const context = { program: [process.execPath, bundle] };
  const options = { home, url: 'http://127.0.0.1:1', secret: 'sk_live_test', variables: { PATH: '' }, context };
  const done = await run(['init', '--yes'], options);
  expect([done.exitCode, done.stderr]).toEqual([
    0,
    expect.stringContaining(`The daemon runs from a copy, ${home}/state/bin/capture.cjs`),
  ]);
  rmSync(join(home, '_npx'), { recursive: true });
  const copy = join(home, 'state/bin/capture.cjs');
  expect(readFileSync(join(home, 'state/bin/hook'), 'utf8')).toContain(`${copy} run --quiet`);
  expect(spawnSync(process.execPath, [copy, 'run'], { encoding: 'utf8' }).stdout).toBe('ran run\n');
  const where = { home, variables: { CAPTURE_HOME: join(home, 'state') } };
  expect(findMissingProgram(where)).toEqual([]);
  chmodSync(copy, 0o600);
  rmSync(copy);
  expect(findMissingProgram(where)).toEqual([copy]);
  await run(['uninstall'], options);
  expect(existsSync(join(home, 'state/bin'))).toBe(false);
});
