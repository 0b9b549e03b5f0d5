import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { makeFolder } from '../../cli/test/folder.ts';
import { run as runSource } from '../../cli/test/program.ts';
import { startService } from '../../cli/test/service.ts';
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
