import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../../cli/test/folder.ts';
import { startService } from '../../cli/test/service.ts';
import { freePort } from '../../server/public-url.ts';
import { createDownloads } from '../../server/test/downloads.ts';
import { ROOT, readManifest } from './bundle.ts';
import { makeDownloads } from './download.ts';
import { run } from './program.ts';

const folder = join(ROOT, 'artefacts/download-test');
const { version } = readManifest(join(ROOT, 'cli'));
const TOOLS = [
  'sh',
  'curl',
  'tar',
  'gzip',
  'sed',
  'tr',
  'cat',
  'cut',
  'mkdir',
  'mktemp',
  'mv',
  'rm',
  'chmod',
  'uname',
  'grep',
  'sha256sum',
];

let url: string;
beforeAll(async () => {
  await makeDownloads(folder);
  const port = await freePort('127.0.0.1');
  url = `http://127.0.0.1:${port}`;
  const service = await createDownloads({ folder, publicUrl: url });
  // The other routes that a signed-in machine requests.
  service.get('/health', async () => ({ status: 'ok', service: 'session-capture', version }));
  service.get('/v1/secret', async () => ({
    organizationId: 'org_1',
    organizationName: 'Acme',
    secretId: 'sec_1',
    secretEnvironment: 'live',
  }));
  await service.listen({ port });
  return () => service.close();
}, 60_000);

interface Machine {
  home: string;
  tools: string;
  /** Runs the documented install command, or the given script. */
  install(script?: string): ReturnType<typeof run>;
  capture(...args: string[]): ReturnType<typeof run>;
}

interface MachineOptions {
  without?: string[];
  /** Name of the home folder. */
  user?: string;
}

/** A machine with its own home and only these programs. */
function machine(
  node?: { path: string } | { says: string },
  { without = [], user = 'ann' }: MachineOptions = {},
): Machine {
  const home = join(makeFolder(), user);
  const tools = join(home, '..', 'tools');
  for (const folder of [home, tools]) mkdirSync(folder);
  for (const tool of TOOLS.filter((name) => !without.includes(name))) symlinkSync(which(tool), join(tools, tool));
  if (node && 'path' in node) symlinkSync(node.path, join(tools, 'node'));
  if (node && 'says' in node) writeScript(join(tools, 'node'), `echo '${node.says}'`);
  const env = { HOME: home, PATH: tools };
  return {
    home,
    tools,
    install: async (script) =>
      script === undefined
        ? run([join(tools, 'sh'), '-c', `curl -fsSL ${url}/install | sh`], env)
        : run([join(tools, 'sh')], env, script),
    capture: (...args) => run([join(home, '.local/bin/capture'), ...args], env),
  };
}

const which = (tool: string) =>
  ['/usr/bin', '/bin'].map((place) => join(place, tool)).find((path) => existsSync(path)) ?? tool;

function writeScript(path: string, text: string): void {
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}

const HERE = { path: process.execPath };
const started = { status: 0, stdout: `${version}\n`, stderr: '' };

describe('the install command for Linux and macOS', () => {
  test('installs the program for one user and prints the next steps', async () => {
    const { home, install, capture } = machine(HERE);
    const { status, stdout, stderr } = await install();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(`Installed capture ${version} as ${home}/.local/bin/capture (SHA-256 of the package: `);
    expect(stdout).toContain(`${home}/.local/bin is not in your PATH yet.`);
    expect(stdout).toContain(`    echo 'export PATH="$HOME/.local/bin:$PATH"' >> ~/.profile\n`);
    expect(stdout).toContain(
      `Next: ${home}/.local/bin/capture login --url ${url} && ${home}/.local/bin/capture init\n`,
    );
    expect(stdout).toContain(
      `To remove it: ${home}/.local/bin/capture uninstall --purge && rm -r ${home}/.local/share/`,
    );
    expect(await capture('--version')).toEqual(started);
    expect(existsSync(join(home, '.local/share/session-capture/node'))).toBe(false);
    expect(existsSync(join(home, '.capture'))).toBe(false);
    expect(stdout).not.toContain('experimental');
  });

  test('says on a Mac that capture is experimental there', async () => {
    const { tools, install } = machine(HERE, { without: ['uname'] });
    writeScript(join(tools, 'uname'), 'echo Darwin');
    expect((await install()).stdout).toContain('Capture is experimental on this system');
  });

  test.skipIf(process.platform !== 'linux').each([
    ['no Node.js', undefined],
    ['an outdated Node.js', { says: '20' }],
    ['a Node.js that does not run', { says: 'Illegal instruction' }],
  ])('installs its own Node.js once on a machine with %s', async (_, node) => {
    const { home, install, capture } = machine(node);
    expect(await install()).toMatchObject({ status: 0, stdout: expect.stringContaining('it gets one of its own.') });
    expect(await capture('--version')).toEqual(started);
    expect(existsSync(join(home, '.local/share/session-capture/LICENSE-OF-NODE.txt'))).toBe(true);
    expect((await install()).stdout).not.toContain('it gets one of its own.');
    expect(await capture('--version')).toEqual(started);
  });

  test('replaces an installed program by the current one when run again', async () => {
    const { home, install, capture } = machine(HERE);
    await install();
    writeFileSync(join(home, '.local/share/session-capture/capture.js'), 'console.log("old")');
    writeScript(join(home, '.local/bin/capture'), 'echo old');
    expect((await install()).status).toBe(0);
    expect(await capture('--version')).toEqual(started);
  });

  describe('on a signed-in machine', () => {
    const signIn = (home: string, address: string) => {
      mkdirSync(join(home, '.capture'), { mode: 0o700 });
      const settings = JSON.stringify({ url: address, secret: 'sk_live_test' });
      writeFileSync(join(home, '.capture/config.json'), settings, { mode: 0o600 });
    };

    test('names another service and prints how to move the machine', async () => {
      const other = await startService();
      onTestFinished(other.stop);
      const { home, install } = machine(HERE);
      signIn(home, other.url);
      const { status, stdout } = await install();
      expect(status).toBe(0);
      expect(stdout).toContain(`signed in to another service: Acme, live plane, at ${other.url}\n`);
      expect(stdout).toContain(`login --url ${url} && `);
    });

    test('reports that the service of the machine cannot be reached', async () => {
      const { home, install } = machine(HERE);
      signIn(home, 'http://127.0.0.1:9');
      expect((await install()).stdout).toContain('its service cannot be reached now');
    });

    test('continues with the set-up if the machine is signed in to this service', async () => {
      const { home, install } = machine(HERE);
      signIn(home, url);
      const { stdout } = await install();
      expect(stdout).toContain(`This machine is signed in: Acme, live plane, at ${url}\n`);
      expect(stdout).toMatch(/^Next: .*capture init$/m);
    });
  });

  test('installs a program that survives the removal of its original Node.js', async () => {
    const { home, tools, install, capture } = machine(HERE);
    await install();
    const launcher = join(home, '.local/bin/capture');
    writeFileSync(launcher, readFileSync(launcher, 'utf8').replace(process.execPath, join(tools, 'gone')));
    expect(await capture('--version')).toEqual(started);
  });

  test('downloads with wget if there is no curl', async () => {
    const { tools, install, capture } = machine(HERE, { without: ['curl'] });
    symlinkSync(which('wget'), join(tools, 'wget'));
    expect((await install(await scriptOf(url))).status).toBe(0);
    expect(await capture('--version')).toEqual(started);
  });

  test('prints what to do if no Node.js is available', async () => {
    const { home, install } = machine({ says: 'v20.1.0' });
    const { status, stderr } = await install((await scriptOf(url)).replace(/^nodes=.*/m, "nodes=''"));
    expect(status).toBe(1);
    expect(stderr).toContain('error: capture needs Node.js 24 or newer. ');
    expect(stderr).toContain('hint: Install it from https://nodejs.org, and run this line again.');
    expect(existsSync(join(home, '.local/bin/capture'))).toBe(false);
  });

  test.each<[string, (script: string) => string, RegExp]>([
    [
      'a modified archive',
      (script) => script.replace(/^package_sum='./m, "package_sum='x"),
      /^error: The SHA-256 of \S+capture\.tgz is [0-9a-f]{64}, not x/,
    ],
    ['a truncated script', (script) => script.slice(0, script.lastIndexOf('main')), /^$/],
    [
      'an unreachable address',
      (script) => script.replace(/^url=.*/m, "url='http://127.0.0.1:1'"),
      /error: http:\S+capture\.tgz cannot be fetched\.\nhint: .*PUBLIC_URL/,
    ],
  ])('installs nothing and leaves no files after %s', async (_, change, says) => {
    const { home, install } = machine(HERE);
    const { stderr } = await install(change(await scriptOf(url)));
    expect(stderr).toMatch(says);
    expect(existsSync(join(home, '.local/bin/capture'))).toBe(false);
    const place = join(home, '.local/share/session-capture');
    expect(existsSync(place) ? readdirSync(place) : []).toEqual([]);
  });

  describe.each(["o'neil and sons", 'ann lee', '$(touch pwned) "x"'])('in the home %s', (user) => {
    /** The words of a printed command, as a shell splits it. */
    const wordsOf = ({ tools }: Machine, command: string) =>
      execFileSync(join(tools, 'sh'), ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8', cwd: tools })
        .trim()
        .split('\n');

    test('prints commands that a shell splits correctly', async () => {
      const here = machine(HERE, { user });
      const { home, install } = here;
      const { status, stdout } = await install();
      expect(status).toBe(0);
      const capture = join(home, '.local/bin/capture');
      const next = /^Next: (.*)$/m.exec(stdout)?.[1]?.split(' && ') ?? [];
      expect(next.map((command) => wordsOf(here, command))).toEqual([
        [capture, 'login', '--url', url],
        [capture, 'init'],
      ]);
      const removal = /^To remove it: (.*)$/m.exec(stdout)?.[1]?.split(' && ') ?? [];
      expect(removal.map((command) => wordsOf(here, command))).toEqual([
        [capture, 'uninstall', '--purge'],
        ['rm', '-r', join(home, '.local/share/session-capture'), capture],
      ]);
    });

    test('prints a removal command that removes only the program', async () => {
      const { home, tools, install } = machine(HERE, { user });
      const { stdout } = await install();
      // The folders that the command would remove without quotes.
      const parent = join(home, '..');
      const beside = user.split(' ').map((word) => join(parent, word));
      for (const folder of beside) mkdirSync(folder, { recursive: true });
      // Without a terminal, nobody can confirm it.
      const removal = (/^To remove it: (.*)$/m.exec(stdout)?.[1] ?? '').replace('--purge', '--purge --yes');
      const { status, stderr } = await run([join(tools, 'sh'), '-c', removal], { HOME: home, PATH: tools });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(readdirSync(join(home, '.local/bin'))).toEqual([]);
      expect(existsSync(join(home, '.local/share/session-capture'))).toBe(false);
      for (const folder of beside) expect(existsSync(folder)).toBe(true);
    });

    test('prints a PATH line with which a new shell finds the program', async () => {
      const { home, tools, install } = machine(HERE, { user });
      const { stdout } = await install();
      const env = { HOME: home, PATH: tools };
      const line = /^ {4}(echo .*)$/m.exec(stdout)?.[1] ?? '';
      await run([join(tools, 'sh'), '-c', line], env);
      const found = await run([join(tools, 'sh'), '-c', '. "$HOME/.profile" && command -v capture'], env);
      expect(found.stdout).toBe(`${join(home, '.local/bin/capture')}\n`);
    });
  });

  test.each([
    ['http://capture.example.com', false],
    ['http://localhost.example.com', false],
    ['http://127.example.com', false],
    ['http://192.0.2.7:4400', false],
    ['http://127.0.0.1:1', true],
    ['http://127.8.8.8:1/capture', true],
    ['http://localhost:1', true],
    ['http://[::1]:1', true],
    ['https://127.0.0.1:1', true],
  ])('downloads the program from %s: %s', async (address, isFetched) => {
    const { home, tools, install } = machine(HERE, { without: ['curl'] });
    writeScript(join(tools, 'curl'), `echo "$@" >> '${home}/asked'; exit 7`);
    const app = await createDownloads({ folder, publicUrl: address });
    onTestFinished(() => app.close());
    const { status, stderr } = await install((await app.inject('/install')).body);
    expect(status).toBe(1);
    expect(existsSync(join(home, 'asked'))).toBe(isFetched);
    if (!isFetched) {
      expect(stderr).toBe(
        `error: ${address} is not encrypted: anybody on the way could put another program in the place of capture.\nhint: The operator of the service sets up HTTPS, and an address with https:// as PUBLIC_URL.\n`,
      );
      expect(existsSync(join(home, '.local'))).toBe(false);
    }
  });

  test('allows no redirect from https to an unencrypted address', async () => {
    const { home, tools, install } = machine(HERE, { without: ['curl'] });
    writeScript(join(tools, 'curl'), `echo "$@" >> '${home}/asked'; exit 7`);
    const app = await createDownloads({ folder, publicUrl: 'https://capture.example.com' });
    onTestFinished(() => app.close());
    await install((await app.inject('/install')).body);
    expect(readFileSync(join(home, 'asked'), 'utf8')).toContain('--proto =https --tlsv1.2 -fsSL https://');
  });

  test('runs no command in a configured address', async () => {
    const { home, install } = machine(HERE);
    const hostile = `http://127.0.0.1:1/'$(touch ${home}/pwned)\`touch ${home}/pwned\`';touch ${home}/pwned;'`;
    const app = await createDownloads({ folder, publicUrl: hostile });
    onTestFinished(() => app.close());
    expect((await install((await app.inject('/install')).body)).status).toBe(1);
    expect(existsSync(join(home, 'pwned'))).toBe(false);
  });
});

const scriptOf = async (address: string) => (await fetch(`${address}/install`)).text();

test("npx runs the service's package", async () => {
  const home = makeFolder();
  const env = { HOME: home, PATH: `${join(process.execPath, '..')}:/usr/bin:/bin` };
  const child = spawn('npx', ['--yes', `${url}/capture.tgz`, '--version'], { env, cwd: home });
  let told = '';
  child.stdout.on('data', (chunk) => {
    told += String(chunk);
  });
  await once(child, 'close');
  expect(told.trim()).toBe(version);
}, 60_000);
