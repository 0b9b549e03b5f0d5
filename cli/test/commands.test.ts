import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, write } from './folder.ts';
import { type RunOptions, run } from './program.ts';
import { startService } from './service.ts';
import { prompt, sessionId } from './transcripts.ts';

interface Case {
  name: string;
  args: string[];
  options?: Partial<RunOptions>;
  exitCode: number;
  terminal: RegExp;
  pipe: RegExp;
  json: object;
}

const ADDRESS = 'SERVICE';
const signedIn = { secret: 'sk_live_test', url: ADDRESS };

const CASES: Case[] = [
  {
    name: 'import',
    args: ['import'],
    options: signedIn,
    exitCode: 0,
    terminal: /^Captured 1 record \(\d+ B\), sent 1 event, masked 0 secrets\.\n$/,
    pipe: /^Captured 1 record \(\d+ B\), sent 1 event, masked 0 secrets\.\n$/,
    json: { recordsCaptured: 1, eventsSent: 1, spooled: { events: 0 } },
  },
  {
    name: 'import --dry-run',
    args: ['import', '--dry-run'],
    exitCode: 0,
    terminal: /^claude-code +1 event +one\n1 file of 1 session .*1 event,.*Nothing was captured\.\n$/,
    pipe: /^claude-code +1 event +one\n1 file of 1 session .*1 event,.*Nothing was captured\.\n$/,
    json: { files: 1, sessions: 1, recordsCaptured: 1, eventsSpooled: 1 },
  },
  {
    name: 'import without a secret',
    args: ['import'],
    exitCode: 4,
    terminal: /^error: You are not signed in\.\nhint: Sign in with `capture login`/,
    pipe: /^error: You are not signed in\.\nhint: /,
    json: { error: 'You are not signed in.', exitCode: 4 },
  },
  {
    name: 'import of a missing path',
    args: ['import', '/nonexistent/\u001b[31mfolder'],
    options: signedIn,
    exitCode: 2,
    terminal: /^error: There is no \/nonexistent\/folder\.\nhint: Check the path\.\n$/,
    pipe: /^error: There is no \/nonexistent\/folder\./,
    json: { error: 'There is no /nonexistent/folder.', exitCode: 2 },
  },
  {
    name: 'status',
    args: ['status'],
    options: signedIn,
    exitCode: 1,
    terminal: /^Service {7}http.*, reachable\nSigned in {5}Acme, live plane\n.*Claude Code {3}1 transcript/s,
    pipe: /^Service {7}http.*, reachable\n/,
    json: { signedIn: true, reachable: true, organizationName: 'Acme', plane: 'live', running: false },
  },
  {
    name: 'status, signed out',
    args: ['status'],
    exitCode: 4,
    terminal: /^Service {7}none\nSigned in {5}no\n.*Nobody is signed in.*\nNext: capture login\n$/s,
    pipe: /^Service {7}none\n/,
    json: { signedIn: false, reachable: false },
  },
  {
    name: 'status with a refused secret',
    args: ['status'],
    options: { ...signedIn, secret: 'sk_live_wrong' },
    exitCode: 4,
    terminal: /^Signed in {5}no, the secret is refused$/m,
    pipe: /^Signed in {5}no, the secret is refused$/m,
    json: { signedIn: false, reachable: true },
  },
  {
    name: 'status --report, signed out',
    args: ['status', '--report'],
    exitCode: 4,
    terminal: /^{\n.*"summary": {\n {4}"failed": 2,/s,
    pipe: /^{\n.*"summary": {\n {4}"failed": 2,/s,
    json: { summary: { failed: 2 }, version: '0.1.0' },
  },
  {
    name: 'sessions, before anything was captured',
    args: ['sessions'],
    exitCode: 0,
    terminal: /^Nothing was captured yet\./,
    pipe: /^Nothing was captured yet\./,
    json: { total: 0, sessions: [] },
  },
  {
    name: 'sessions with an unknown session',
    args: ['sessions', 'nothing'],
    options: signedIn,
    exitCode: 2,
    terminal: /^error: Nothing was captured yet\.\nhint: /,
    pipe: /^error: Nothing was captured yet\./,
    json: { exitCode: 2 },
  },
  {
    name: 'open, signed out',
    args: ['open'],
    exitCode: 4,
    terminal: /^error: The address of the service is not known\.\nhint: Sign in/,
    pipe: /^error: The address of the service is not known/,
    json: { exitCode: 4 },
  },
  {
    name: 'status --log, before there is a log',
    args: ['status', '--log'],
    exitCode: 0,
    terminal: /^The log is empty\./,
    pipe: /^The log is empty\./,
    json: { lines: [] },
  },
  {
    name: 'login',
    args: ['login', '--secret-stdin', '--url', ADDRESS],
    options: { input: 'sk_live_test\n' },
    exitCode: 0,
    terminal: /^Signed in to Acme \(live plane\)\.\nNext: /,
    pipe: /^Signed in to Acme \(live plane\)\.\n/,
    json: { organizationName: 'Acme', plane: 'live' },
  },
  {
    name: 'login with a wrong secret',
    args: ['login', '--secret-stdin', '--url', ADDRESS],
    options: { input: 'sk_live_wrong\n' },
    exitCode: 4,
    terminal: /^error: The service does not accept the organization secret/,
    pipe: /^error: The service does not accept/,
    json: { exitCode: 4 },
  },
  {
    name: 'login at an address where nothing listens',
    args: ['login', '--secret-stdin', '--url', 'http://127.0.0.1:1'],
    options: { input: 'sk_live_test' },
    exitCode: 75,
    terminal: /^error: The service at http:\/\/127\.0\.0\.1:1 cannot be reached: .*\nhint: .*Nothing was stored\.\n$/,
    pipe: /^error: The service at/,
    json: { exitCode: 75 },
  },
  {
    name: 'logout',
    args: ['logout'],
    exitCode: 0,
    terminal: /^You were not signed in\./,
    pipe: /^You were not signed in\./,
    json: { signedOut: false },
  },
  {
    name: 'an unknown command',
    args: ['improt'],
    exitCode: 2,
    terminal: /unknown command 'improt'[\s\S]*Did you mean import\?/,
    pipe: /Did you mean import\?/,
    json: {},
  },
  {
    name: 'an unknown shell',
    args: ['completion', 'tcsh'],
    exitCode: 2,
    terminal: /^error: tcsh is not a shell that capture knows\.\nhint: Write one of: zsh, bash, fish, powershell\.$/m,
    pipe: /^error: tcsh is not a shell/,
    json: {},
  },
  {
    name: 'the help of completion',
    args: ['completion', '--help'],
    exitCode: 0,
    terminal: /Prints a script that completes commands, options and agents in your shell\./,
    pipe: /Prints a script/,
    json: {},
  },
];

for (const { name, args, options, exitCode, ...expected } of CASES) {
  test.each(['terminal', 'pipe', 'json'] as const)(`${name}: %s`, async (kind) => {
    const service = await startService();
    onTestFinished(service.stop);
    const home = makeFolder();
    write(join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`), `${prompt(1, 0, 'one')}\n`);
    const fill = (text: string) => (text === ADDRESS ? service.url : text);
    const given = { home, ...options, ...(options?.url && { url: service.url }) };
    const result = await run([...args.map(fill), ...(kind === 'json' ? ['--json'] : [])], {
      ...given,
      isTTY: kind === 'terminal',
    });
    expect(result.exitCode).toBe(exitCode);
    const written = result.stdout + result.stderr;
    expect(written).not.toContain('sk_live_test');
    if (kind === 'json') {
      const [first = '{}'] = [result.stdout, result.stderr].filter((text) => text.startsWith('{'));
      expect(JSON.parse(first)).toMatchObject(expected.json);
    } else {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours, and the code with which a progress bar clears its line
      expect(written.replace(/\r\u001b\[K[^\r\n]*|\u001b\[\d+m/g, '')).toMatch(expected[kind]);
    }
  });
}

test('login asks for the secret without echo on a terminal, and stores it readable by its owner only', async () => {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const options = { home, isTTY: true, input: 'sk_live_testx\u007f\r' };
  const result = await run(['login', '--ask-secret', '--url', service.url], options);
  expect(result).toMatchObject({ exitCode: 0, stderr: 'Organization secret (it is not shown): \n' });
  expect(statSync(join(home, 'state/config.json')).mode & 0o777).toBe(0o600);
  expect(await run(['import'], { home })).toMatchObject({ exitCode: 0 });
});
