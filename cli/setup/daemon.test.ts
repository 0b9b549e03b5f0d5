import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Context } from '../context.ts';
import { guardedCommand } from '../hooks/script.ts';
import { isLocked } from '../lock.ts';
import { makeFolder, write } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { startService } from '../test/service.ts';

async function prepare(systemctl: string | undefined) {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const log = join(home, 'systemctl.log');
  write(join(home, '.qwen/settings.json'), '{}');
  if (systemctl) write(join(home, 'programs/systemctl'), `#!/bin/sh\necho "$@" >> ${log}\n${systemctl}\n`, 0o755);
  const variables = { PATH: `${join(home, 'programs')}:/usr/bin:/bin`, CODEX_HOME: '/else/100%', XDG_CONFIG_HOME: '' };
  const capture = async (args: string[], more: Record<string, string> = {}, context: Partial<Context> = {}) => {
    const result = await run(args, {
      context,
      home,
      variables: { ...variables, ...more },
      url: service.url,
      secret: 'sk_live_test',
    });
    return { ...result, json: args.includes('--json') ? (JSON.parse(result.stdout) as Record<string, unknown>) : {} };
  };
  const asked = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
  return { home, state: join(home, 'state'), capture, asked, variables, url: service.url };
}

const NO_USER_MANAGER = 'exit 1';

test('systemd runs the daemon where a person has one, by a unit that is shown first', async () => {
  const { home, state, capture, asked } = await prepare('exit 0');
  const unit = join(home, '.config/systemd/user/session-capture.service');
  const shown = await capture(['init', '--dry-run']);
  expect(shown.stdout).toContain(`--- /dev/null\n+++ ${unit}\n`);
  expect(existsSync(unit)).toBe(false);

  const { json } = await capture(['init', '--yes', '--json']);
  expect(json).toMatchObject({ daemon: { starter: 'systemd', file: { change: 'created' } } });
  const text = readFileSync(unit, 'utf8');
  expect(text).toMatch(/^ExecStart=".*node.*" ".*main\.ts" "run" "--quiet"$/m);
  expect(text).toContain('Environment="CODEX_HOME=/else/100%%"\n');
  expect(text).toContain(`Environment="CAPTURE_HOME=${state}"\n`);
  expect(text).not.toContain('sk_live_test');
  expect(asked().slice(-3)).toEqual([
    '--user daemon-reload',
    '--user enable session-capture.service',
    '--user restart session-capture.service',
  ]);
  expect(readFileSync(join(state, 'bin/hook'), 'utf8')).not.toContain('main.ts');

  await capture(['uninstall']);
  expect(existsSync(join(home, '.config'))).toBe(false);
  expect(asked().slice(-2)).toEqual(['--user disable --now session-capture.service', '--user daemon-reload']);
});

test('where systemd will not run it, the unit goes again and the hooks start the daemon', async () => {
  const { home, state, capture } = await prepare('case "$2" in restart) exit 1 ;; esac');
  const result = await capture(['init', '--yes', '--json']);
  expect(result.json).toMatchObject({ daemon: { starter: 'hook' } });
  expect(result.stderr).toContain('The system would not run the daemon, so the hooks start it.');
  expect(existsSync(join(home, '.config/systemd'))).toBe(false);
  expect(readFileSync(join(state, 'bin/hook'), 'utf8')).toContain('main.ts');
});

test("a unit of that name that is somebody else's is left alone", async () => {
  const { home, capture } = await prepare('exit 0');
  const unit = write(join(home, '.config/systemd/user/session-capture.service'), '[Unit]\n');
  expect((await capture(['init', '--yes', '--json'])).json).toMatchObject({ daemon: { starter: 'hook' } });
  await capture(['uninstall']);
  expect(readFileSync(unit, 'utf8')).toBe('[Unit]\n');
});

test('without a supervisor a hook starts the daemon, and uninstall ends it', async () => {
  const { state, capture, variables, url } = await prepare(NO_USER_MANAGER);
  const { json } = await capture(['init', '--yes', '--json']);
  expect(json).toMatchObject({ daemon: { starter: 'hook' } });
  expect(isLocked(state, 'run')).toBe(false);
  // As from the shell that the agent was started in.
  const env = { ...variables, HOME: join(state, '..'), CAPTURE_URL: url, CAPTURE_SECRET: 'sk_live_test' };
  const { status } = spawnSync('/bin/sh', ['-c', guardedCommand(state, 'linux', 'qwen-code')], { env, input: '{}' });
  expect(status).toBe(0);
  await vi.waitFor(() => expect(existsSync(join(state, 'daemon.pid'))).toBe(true), 15_000);
  expect(isLocked(state, 'run')).toBe(true);
  const undone = await capture(['uninstall', '--json']);
  expect(undone.json).toMatchObject({ daemon: { stopped: true, running: false } });
  expect(isLocked(state, 'run')).toBe(false);
}, 60_000);

test('with --no-daemon nothing is set up, and no hook starts one', async () => {
  const { state, capture, asked } = await prepare('exit 0');
  expect((await capture(['init', '--yes', '--no-daemon', '--json'])).json).toMatchObject({
    daemon: { starter: 'none' },
  });
  expect(asked()).toEqual([]);
  expect(readFileSync(join(state, 'bin/hook'), 'utf8')).not.toContain('main.ts');
});

test('a proxy is handed to the daemon; one with a password is not, and that is said', async () => {
  const { home, capture } = await prepare('exit 0');
  const proxies = { HTTPS_PROXY: 'http://proxy:8080', HTTP_PROXY: 'http://me:hunter2@proxy:8080' };
  const { stdout, stderr } = await capture(['init', '--yes'], proxies);
  const unit = readFileSync(join(home, '.config/systemd/user/session-capture.service'), 'utf8');
  expect(unit).toContain('Environment="HTTPS_PROXY=http://proxy:8080"\n');
  expect(stderr).toContain('HTTP_PROXY holds a password, which is not handed to systemd');
  expect(stdout + stderr + unit).not.toContain('hunter2');
});

test('init with --no-daemon leaves one alone that is there, and uninstall takes it away', async () => {
  const { home, state, capture } = await prepare('exit 0');
  const unit = join(home, '.config/systemd/user/session-capture.service');
  await capture(['init', '--yes']);
  await capture(['init', '--yes', '--no-daemon']);
  expect(existsSync(unit)).toBe(true);
  write(join(state, 'setup.json'), 'broken');
  expect((await capture(['uninstall'])).exitCode).toBe(0);
  expect(existsSync(unit)).toBe(false);
});

/**
 * Programs of Windows, by name, each noting how it is called. The command lines are as documented, and not tried. Paths
 * are Windows's, too, which are names of files where the test runs.
 */
function onWindows(home: string, programs: { [name: string]: string }) {
  const here = process.cwd();
  process.chdir(home);
  onTestFinished(() => process.chdir(here));
  const log = join(home, 'windows.log');
  for (const [name, line] of Object.entries(programs)) {
    write(join(home, 'programs', name), `#!/bin/sh\nprintf '%s\\n' "${name} $*" >> ${log}\n${line}\n`, 0o755);
  }
  return () => readFileSync(log, 'utf8');
}

const WINDOWS: Partial<Context> = { platform: 'win32', program: ['C:\\node.exe', 'C:\\capture.js'] };

test('where Windows makes no task, its Run key starts the daemon', async () => {
  const { home, capture } = await prepare(undefined);
  const log = onWindows(home, { schtasks: 'exit 1', reg: 'exit 0', powershell: 'exit 0' });
  const { json, stderr } = await capture(['init', '--yes', '--json'], {}, WINDOWS);
  expect(json).toMatchObject({ daemon: { starter: 'run-key' } });
  expect(stderr).toContain('Windows would not make a task, so it starts the daemon when you sign in');
  const line = 'conhost.exe --headless "C:\\node.exe" "C:\\capture.js" run --quiet';
  expect(log()).toContain(`CurrentVersion\\Run /v Session Capture /t REG_SZ /d ${line} /f`);
  const encoded = /-EncodedCommand (\S+)/.exec(log())?.[1] ?? '';
  expect(Buffer.from(encoded, 'base64').toString('utf16le')).toBe(
    `Start-Process -WindowStyle Hidden -FilePath 'C:\\node.exe' -ArgumentList '"C:\\capture.js" run --quiet'`,
  );
  await capture(['uninstall'], {}, WINDOWS);
  expect(log()).toMatch(/reg delete HKCU\\.*\\Run \/v Session Capture \/f/);
});

test('where Windows does neither, it is said that nothing starts the daemon, and what to do', async () => {
  const { home, capture } = await prepare(undefined);
  onWindows(home, { schtasks: 'exit 1', reg: 'exit 1', powershell: 'exit 0' });
  const { json, stderr } = await capture(['init', '--yes', '--json'], {}, WINDOWS);
  expect(json).toMatchObject({ daemon: { starter: 'none' } });
  expect(stderr).toContain('so nothing starts the daemon.');
  expect(stderr).toContain('shell:startup opens: "C:\\node.exe" "C:\\capture.js" run');
  expect(stderr).not.toContain('the hooks start it');
});
