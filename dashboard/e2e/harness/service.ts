import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../server/public-url.ts';
import { startService as start, UNLIMITED, welcomeLinkOf } from '../../../test/service.ts';

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
  const configured = await configure(`http://127.0.0.1:${port}`);
  const hasAccounts = (configured.IDENTITY_PROVIDER ?? 'embedded') === 'embedded';
  // So that a second person can sign up without an invitation.
  const signUp = configured.IDENTITY_PROVIDER === undefined ? { SIGN_UP: 'open' } : {};
  const variables = { ...UNLIMITED, ...signUp, ...configured, PORT: String(port) };
  const begin = () => start(dataDir, variables, { log });
  let running = await begin();
  const [, url = ''] = await running.until(/is ready at (\S+)/);
  return {
    url,
    dataDir,
    welcomeLink: hasAccounts ? await welcomeLinkOf(running) : '',
    async stop() {
      await running.end('SIGTERM');
    },
    async restart() {
      running = await begin();
    },
  };
}
