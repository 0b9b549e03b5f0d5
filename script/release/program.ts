import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { makeFolder } from '../../cli/test/folder.ts';
import { run as runSource } from '../../cli/test/program.ts';
import { startService } from '../../cli/test/service.ts';
import { NODE_FLOOR } from '../../contract/download.ts';
import { ROOT } from './bundle.ts';

export interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs a program with exactly the given environment. */
export async function run(
  [program = '', ...args]: readonly string[],
  env: Record<string, string>,
  input = '',
): Promise<Ended> {
  const child = spawn(program, args, { env, cwd: env.HOME });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  // A program may end before it has read all its input.
  child.stdin.on('error', () => undefined).end(input);
  const [status] = (await once(child, 'close')) as [number];
  return { status, ...written };
}

/** Proves that a built program says in one sentence that Node 20 is too old for it, before it loads a module. */
export async function expectNewerNode(program: string, subject: string): Promise<void> {
  const folder = makeFolder();
  const pretend = join(folder, 'pretend.cjs');
  writeFileSync(
    pretend,
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });
    require('node:module').prototype.require = () => { throw new Error('something was loaded'); };`,
  );
  const { stderr, ...ended } = await run([process.execPath, '--require', pretend, program], { HOME: folder });
  expect(ended).toEqual({ status: 1, stdout: '' });
  const [error = '', hint = '', ...others] = stderr.split('\n');
  expect(error).toBe(`error: ${subject} needs Node.js ${NODE_FLOOR} or newer; this is Node.js 20.20.2.`);
  expect(hint).toMatch(/^hint: .+/);
  expect(others).toEqual(['']);
}

/** Proves that capture, started with this command, signs in and sends the same events as the sources would. */
export async function expectCapture(command: readonly string[], variables: Record<string, string> = {}): Promise<void> {
  const service = await startService();
  onTestFinished(service.stop);
  const env = { HOME: layOut(), ...variables };

  const login = await run([...command, 'login', '--url', service.url, '--secret-stdin'], env, service.state.secret);
  expect(login).toMatchObject({ status: 0, stdout: expect.stringContaining('Signed in to Acme') });
  expect(await run([...command, 'import', '--json'], env)).toMatchObject({ status: 0, stderr: '' });
  expect(countEvents(service)).toEqual(await importFromSource());
}

function layOut(): string {
  const home = makeFolder();
  cpSync(join(ROOT, 'samples/codex'), join(home, '.codex'), { recursive: true });
  return home;
}

async function importFromSource() {
  const service = await startService();
  onTestFinished(service.stop);
  const { secret } = service.state;
  expect(await runSource(['import'], { home: layOut(), url: service.url, secret })).toMatchObject({ exitCode: 0 });
  const counts = countEvents(service);
  expect(counts.size).toBeGreaterThan(3);
  return counts;
}

const countEvents = ({ eventsBySession }: Awaited<ReturnType<typeof startService>>) =>
  new Map([...eventsBySession()].map(([session, events]) => [session, events.length]));
