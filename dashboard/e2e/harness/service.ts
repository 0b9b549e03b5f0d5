import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../../server/public-url.ts';
import { BUILT_SERVICE } from '../../../server/test/process.ts';
import { REPOSITORY } from './folders.ts';

/** A service that runs, for tests that only use it. */
export interface RunningService {
  url: string;
  /** The folder of its data, mails and log. */
  dataDir: string;
}

/** A service that one test file started. */
export interface Service extends RunningService {
  /** The link that creates the first account; it works once. */
  welcomeLink: string;
  stop(): Promise<void>;
  /** Starts the service again after a stop, with the same data at the same address. */
  restart(): Promise<void>;
}

/** More variables, which may depend on the address. */
export type Configure = (url: string) => Record<string, string> | Promise<Record<string, string>>;

/** Starts the service as its users do, with an empty data folder, which also gets its log. */
export async function startService(dataDir: string, configure: Configure = () => ({})): Promise<Service> {
  const port = await freePort('127.0.0.1');
  const log = createWriteStream(join(dataDir, 'service.log'));
  const variables = await configure(`http://127.0.0.1:${port}`);
  const start = () => run({ PORT: String(port), DATA_DIR: dataDir, ...variables }, log);
  let { child, lineWith } = start();
  const hasAccounts = (variables.IDENTITY_PROVIDER ?? 'embedded') === 'embedded';
  const welcome = hasAccounts ? lineWith(/https?:\S+\/welcome\?token=\S+/) : [''];
  const url = (await lineWith(/is ready at (\S+)/))[1] ?? '';
  return {
    url,
    dataDir,
    welcomeLink: (await welcome)[0],
    async stop() {
      const ended = once(child, 'exit');
      if (child.exitCode === null && child.kill('SIGTERM')) await ended;
    },
    async restart() {
      ({ child, lineWith } = start());
      await lineWith(/is ready at/);
    },
  };
}

function run(variables: Record<string, string>, log: WriteStream) {
  const child = spawn(process.execPath, [BUILT_SERVICE], {
    cwd: REPOSITORY,
    env: {
      PATH: process.env.PATH ?? '',
      LOG_LEVEL: 'warn',
      // All requests of the tests come from one address.
      RATE_LIMIT_ADDRESS: '0',
      RATE_LIMIT_SECRET: '0',
      RATE_LIMIT_USER: '0',
      // So that a second person can sign up without an invitation.
      ...(variables.IDENTITY_PROVIDER === undefined && { SIGN_UP: 'open' }),
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const lines = createInterface({ input: child.stdout });
  /** Resolves with the first line that matches; rejects if the service ends before. */
  const lineWith = (expression: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      lines.on('line', (line) => {
        const found = expression.exec(line);
        if (found) resolve(found);
      });
      child.once('exit', (code) =>
        reject(new Error(`the service ended with ${code} before it was ready; see ${log.path}`)),
      );
    });
  return { child, lineWith };
}
