import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Context } from '../context.ts';
import { findDaemon, isDaemonRunning } from '../daemon/control.ts';
import { makeFolder, write } from '../test/folder.ts';
import { createContext, run } from '../test/program.ts';
import { startService } from '../test/service.ts';
import { exitCodeFor } from './exit-codes.ts';
import { lastingProgram } from './program.ts';
import { type Supervisor, supervisorOf } from './supervisors.ts';

async function prepare(systemctl: string | undefined) {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const state = join(home, 'state');
  const log = join(home, 'systemctl.log');
  if (systemctl) write(join(home, 'programs/systemctl'), `#!/bin/sh\necho "$@" >> ${log}\n${systemctl}\n`, 0o755);
  const variables = { PATH: `${join(home, 'programs')}:/usr/bin:/bin`, CODEX_HOME: '/else/100%', XDG_CONFIG_HOME: '' };
  const capture = async (args: string[], more: Record<string, string> = {}, context: Partial<Context> = {}) => {
    const options = { context, home, variables: { ...variables, ...more }, url: service.url, secret: 'sk_live_test' };
    const result = await run(args, options);
    return {
      ...result,
      json: args.includes('--json') ? (JSON.parse(result.stdout || '{}') as Record<string, unknown>) : {},
    };
  };
  await capture(['login']);
  const environment = { ...variables, HOME: home, CAPTURE_HOME: state };
  const isRunning = () => isDaemonRunning(state);
  onTestFinished(async () => void (isRunning() && (await capture(['uninstall']))));
  const asked = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
  return { home, state, capture, asked, isRunning, environment, url: service.url };
}

/** Starts the daemon by its unit, as systemd would. */
const STARTS =
  'case "$2" in restart) grep ^ExecStart= "$HOME"/.config/systemd/user/*.service | cut -d= -f2- > "$HOME"/unit ; setsid sh "$HOME"/unit >/dev/null 2>&1 & ;; esac';
const NO_USER_MANAGER = 'exit 1';

test('systemd keeps the daemon running for a person with a manager, and uninstall removes everything', async () => {
  const { home, state, capture, asked, isRunning } = await prepare(STARTS);
  const unit = join(home, '.config/systemd/user/session-capture.service');
  const shown = await capture(['init', '--dry-run']);
  expect([shown.stdout.includes('systemd keeps capture running: ~/.config/'), existsSync(unit)]).toEqual([true, false]);

  const { json, exitCode } = await capture(['init', '--yes', '--json'], { HOME: home });
  expect([exitCode, json.daemon]).toEqual([0, { starter: 'systemd', running: true }]);
  const text = readFileSync(unit, 'utf8');
  expect(text).toMatch(/^ExecStart=".*node.*" ".*main\.ts" "run" "--quiet"$/m);
  for (const pair of ['CODEX_HOME=/else/100%%', `CAPTURE_HOME=${state}`, 'MALLOC_ARENA_MAX=1']) {
    expect(text).toContain(`Environment="${pair}"\n`);
  }
  expect(text).not.toContain('sk_live_test');
  const steps = ['daemon-reload', 'enable session-capture.service', 'restart session-capture.service'];
  expect(asked().slice(-3)).toEqual(steps.map((step) => `--user ${step}`));

  const again = await capture(['init', '--yes', '--json'], { HOME: home });
  expect(again.json.daemon).toEqual({ starter: 'systemd', running: true });

  const { stdout } = await capture(['uninstall']);
  expect(stdout).toContain('capture is stopped.');
  expect([existsSync(unit), isRunning()]).toEqual([false, false]);
  expect(asked().at(-1)).toBe('--user disable --now session-capture.service');
}, 60_000);

test('a daemon that was started otherwise ends when systemd starts one', async () => {
  const { home, state, capture } = await prepare(NO_USER_MANAGER);
  await capture(['init', '--yes']);
  const first = findDaemon(state)?.pid;
  write(join(home, 'programs/systemctl'), `#!/bin/sh\n${STARTS}\n`, 0o755);
  const { json } = await capture(['init', '--yes', '--json'], { HOME: home });
  expect(json.daemon).toEqual({ starter: 'systemd', running: true });
  await vi.waitFor(() => expect(findDaemon(state)?.pid).toEqual(expect.any(Number)));
  expect(findDaemon(state)?.pid).not.toBe(first);
}, 60_000);

test.each([
  ['the person has no systemd', NO_USER_MANAGER],
  ['systemd refuses', 'case "$2" in restart) exit 1 ;; esac'],
])(
  'if %s, init starts the daemon itself and says that nothing will restart it',
  async (_, systemctl) => {
    const { home, capture, isRunning } = await prepare(systemctl);
    const { stdout, exitCode } = await capture(['init', '--yes']);
    expect([exitCode, isRunning()]).toEqual([0, true]);
    expect(stdout).toContain('capture runs. Nothing starts it after a reboot');
    expect(existsSync(join(home, '.config/systemd/user/session-capture.service'))).toBe(false);
    expect((await capture(['uninstall', '--json'])).json).toMatchObject({ daemon: { stopped: true } });
    expect(isRunning()).toBe(false);
  },
  60_000,
);

test("another program's unit with that name is left alone", async () => {
  const { home, capture } = await prepare('exit 0');
  const unit = write(join(home, '.config/systemd/user/session-capture.service'), '[Unit]\n');
  expect((await capture(['init', '--dry-run', '--json'])).json).toMatchObject({ daemon: { starter: 'process' } });
  await capture(['uninstall']);
  expect(readFileSync(unit, 'utf8')).toBe('[Unit]\n');
});

test('if the daemon does not start, init says so and fails', async () => {
  const { capture } = await prepare(NO_USER_MANAGER);
  const { exitCode, stdout } = await capture(['init', '--yes'], {}, { program: ['/bin/false'] });
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining('The daemon did not start: `capture status --log`')]);
});

test('with --no-daemon, nothing is set up, and an existing unit stays until uninstall', async () => {
  const { home, state, capture, asked } = await prepare('exit 0');
  expect((await capture(['init', '--yes', '--no-daemon', '--json'])).json.daemon).toBeUndefined();
  expect(asked()).toEqual([]);
  const unit = write(join(home, '.config/systemd/user/session-capture.service'), 'Description=Session Capture\n');
  write(join(state, 'setup.json'), 'broken');
  expect((await capture(['uninstall'])).exitCode).toBe(0);
  expect(existsSync(unit)).toBe(false);
});

test('the daemon gets a proxy, but not one with a password, and the plan says so', async () => {
  const { home, capture } = await prepare(STARTS);
  const proxies = { HOME: home, HTTPS_PROXY: 'http://proxy:8080', HTTP_PROXY: 'http://me:hunter2@proxy:8080' };
  const { stdout, stderr } = await capture(['init', '--yes'], proxies);
  const unit = readFileSync(join(home, '.config/systemd/user/session-capture.service'), 'utf8');
  expect(unit).toContain('Environment="HTTPS_PROXY=http://proxy:8080"\n');
  expect(stderr).toContain('HTTP_PROXY contains a password, so the daemon does not get it');
  expect(stdout + stderr + unit).not.toContain('hunter2');
}, 60_000);

test('on Windows, a task of the person starts the daemon at sign-in, also on battery, and never ends it', () => {
  const variables = { USERDOMAIN: 'BÜRO', USERNAME: 'ann' };
  const { context } = createContext({ home: '/h', variables, context: { program: ['C:\\node & co\\node.exe'] } });
  const { file, start } = supervisorOf('win32') as Supervisor;
  const text = file.write(context);
  expect(start(context)[0]).toEqual([
    'schtasks',
    '/Create',
    '/F',
    '/TN',
    'Session Capture',
    '/XML',
    file.path(context),
  ]);
  expect(text).toContain(file.marker);
  expect(text).toContain('<UserId>B&#220;RO\\ann</UserId>');
  expect(text).toContain('<Arguments>--headless &#34;C:\\node &#38; co\\node.exe&#34; run --quiet</Arguments>');
  for (const setting of [
    '<DisallowStartIfOnBatteries>false<',
    '<StopIfGoingOnBatteries>false<',
    '<ExecutionTimeLimit>PT0S<',
    '<RunLevel>LeastPrivilege<',
  ]) {
    expect(text).toContain(setting);
  }
});

test('launchd gets valid XML', () => {
  const { context } = createContext({ home: '/h', context: { program: ['/a & b/<node>'] } });
  const text = supervisorOf('darwin')?.file.write(context);
  expect(text).toContain('<string>/a &#38; b/&#60;node&#62;</string>\n    <string>run</string>');
  expect(text).toContain('<key>CAPTURE_SUPERVISOR</key><string>launchd</string>');
});

test('a daemon under launchd exits with 0 if a restart would change nothing', () => {
  const byLaunchd = { CAPTURE_SUPERVISOR: 'launchd' };
  expect([0, 1, 2, 4, 75].map((code) => exitCodeFor(code, byLaunchd))).toEqual([0, 1, 0, 0, 75]);
  expect([2, 4].map((code) => exitCodeFor(code, {}))).toEqual([2, 4]);
});

test.each(['/h/.npm/_npx/1a/node_modules/x/capture.js', '/h/.cache/pnpm/dlx-1/capture.js', '/tmp/bunx-1-x/capture.js'])(
  'a program in a cache that gets emptied, %s, is refused',
  (path) => {
    expect(() => lastingProgram({ program: ['/usr/bin/node', path] })).toThrow(/a cache that gets emptied/);
  },
);

test('a program is started by its lasting path', () => {
  const home = makeFolder();
  write(join(home, 'opt/node/bin/node'), '');
  const cellar = write(join(home, 'Cellar/node/24.1.0/bin/node'), '');
  expect(lastingProgram({ program: [cellar] })).toEqual([join(home, 'opt/node/bin/node')]);
});
