import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../../server/public-url.ts';
import { REPOSITORY } from './folders.ts';

export interface Service {
  url: string;
  /** Creates the first account; works once. */
  welcomeLink: string;
  stop(): Promise<void>;
}

/** The service as its users start it, on an empty data folder, which also takes its log. */
export async function startService(dataDir: string): Promise<Service> {
  const child = spawn(process.execPath, ['server/main.ts'], {
    cwd: REPOSITORY,
    env: {
      PATH: process.env.PATH ?? '',
      PORT: String(await freePort('127.0.0.1')),
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      // Everybody here comes from one address.
      RATE_LIMIT_ADDRESS: '0',
      RATE_LIMIT_SECRET: '0',
      RATE_LIMIT_USER: '0',
      // So that a second person can come without the first.
      SIGN_UP: 'open',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = createWriteStream(join(dataDir, 'service.log'));
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const ended = once(child, 'exit');

  const greeting = new Promise<{ url: string; welcomeLink: string }>((resolve) => {
    let url = '';
    createInterface({ input: child.stdout }).on('line', (line) => {
      url = /is ready at (\S+)/.exec(line)?.[1] ?? url;
      const welcomeLink = /https?:\S+\/welcome\?token=\S+/.exec(line)?.[0];
      if (welcomeLink !== undefined) resolve({ url, welcomeLink });
    });
  });
  const { url, welcomeLink } = await Promise.race([
    greeting,
    ended.then(([code]) => {
      throw new Error(`the service ended with ${code} before it was ready; see ${dataDir}/service.log`);
    }),
  ]);
  return {
    url,
    welcomeLink,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      log.end();
    },
  };
}
