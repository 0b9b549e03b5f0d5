import { type Client, ServiceError } from '../../contract/client.ts';
import type { CollectedReading, CollectedSecret, DevicePurpose, StartedDevice } from '../../contract/device.ts';
import { paths } from '../../contract/pages.ts';
import { openInBrowser } from '../browser.ts';
import type { Context } from '../context.ts';
import { findDashboard } from '../dashboard.ts';
import { Declined, EXIT, Failure } from '../failure.ts';
import { nameOfMachine } from '../machine-name.ts';
import { toPlainText } from '../terminal.ts';
import { hasCode, hasStatus, isTemporary } from '../upload/problem.ts';
import { toPlatform } from '../upload/registration.ts';
import { createService } from '../upload/service.ts';
import { VERSION } from '../version.ts';
import { explainTrouble, SIGN_IN_MS } from './service-address.ts';

/** When the service asks a client to slow down, RFC 8628 adds this to the interval between two polls. */
const SLOWER_S = 5;

/**
 * Asks a person to confirm this machine in the dashboard, and returns the secret that the service issues for it.
 * @throws Failure if nobody confirms it
 */
export async function signInByDevice(context: Context, url: string, browser: boolean) {
  const { value, organizationName, secret } = await signIn(context, { url, browser, ...CAPTURE });
  return { secret: value, organizationName, plane: secret.secretEnvironment };
}

/**
 * Asks a person to let this machine read sessions for some minutes, and returns the token for it. It is kept in memory alone,
 * because the secret of a machine reads nothing.
 * @throws Failure if nobody confirms it
 */
export async function signInToRead(context: Context, url: string): Promise<string> {
  return (await signIn(context, { url, browser: true, ...READING })).token;
}

/** How a sign-in for one purpose differs. */
interface Purpose<Collected> {
  purpose: DevicePurpose;
  asks: string;
  again: string;
  collect(client: Client, deviceCode: string): Promise<Collected>;
}

const CAPTURE: Purpose<CollectedSecret> = {
  purpose: 'capture',
  asks: 'sign this machine in',
  again: '`capture login`',
  collect: async (client, deviceCode) => (await client.collectDeviceSecret({ body: { deviceCode } })).body,
};

const READING: Purpose<CollectedReading> = {
  purpose: 'reading',
  asks: 'let this machine read your sessions',
  again: 'the same command',
  collect: async (client, deviceCode) => (await client.collectReadingToken({ body: { deviceCode } })).body,
};

interface Wish<Collected> extends Purpose<Collected> {
  url: string;
  browser: boolean;
}

/** The address and the code are always printed first. */
async function signIn<Collected>(context: Context, wish: Wish<Collected>): Promise<Collected> {
  const { url, browser, asks } = wish;
  const { client } = createService({ url, secret: '', fetch: context.fetch, timeoutMs: SIGN_IN_MS });
  const started = await begin(context, client, wish);
  const page = (await findDashboard(context, url)) + paths.device(started.userCode);
  const minutes = Math.round(started.expiresIn / 60);
  context.stderr.write(
    toPlainText(
      `To ${asks}, open\n\n    ${page}\n\nand confirm the code ${started.userCode} there, within ${minutes} minutes.\n`,
    ),
  );
  if (browser && !isRemote(context)) await openInBrowser(context, page);
  context.stderr.write('Waiting for confirmation …\n');
  return collect(context, client, started, wish);
}

/** Over SSH, a browser would open on a screen that nobody sees. */
const isRemote = ({ variables }: Context) => Boolean(variables.SSH_CONNECTION || variables.SSH_TTY);

async function begin(
  context: Context,
  client: Client,
  { url, purpose }: Pick<Wish<unknown>, 'url' | 'purpose'>,
): Promise<StartedDevice> {
  const { hostname, platform } = context;
  try {
    const machine = { hostname: nameOfMachine(hostname), platform: toPlatform(platform), serviceCliVersion: VERSION };
    const body = { ...machine, purpose };
    return (await client.startDeviceSignIn({ body })).body;
  } catch (error) {
    throw explainTrouble(url, error, 'Nothing was stored.');
  }
}

async function collect<Collected>(
  context: Context,
  client: Client,
  started: StartedDevice,
  { collect, again }: Purpose<Collected>,
): Promise<Collected> {
  const end = context.now() + started.expiresIn * 1000;
  let interval = started.interval;
  while (context.now() < end) {
    await pause(interval, context);
    try {
      return await collect(client, started.deviceCode);
    } catch (error) {
      if (hasCode(error, 'slow_down')) interval += SLOWER_S;
      else if (hasStatus(error, 429)) await pause(error.retryAfter ?? interval, context);
      else if (!hasCode(error, 'authorization_pending') && !isTemporary(error)) throw explain(error, again);
    }
  }
  throw tooLate(again);
}

async function pause(seconds: number, { sleep, stop }: Context): Promise<void> {
  try {
    await sleep(seconds * 1000, stop);
  } catch (error) {
    throw stop.aborted ? new Declined('Interrupted. Nothing was stored.') : error;
  }
}

function explain(error: unknown, again: string): unknown {
  if (hasCode(error, 'access_denied'))
    return new Declined('The sign-in was refused in the dashboard. Nothing was stored.');
  if (hasCode(error, 'expired_token')) return tooLate(again, error);
  if (!(error instanceof ServiceError)) return error;
  return new Failure(EXIT.failure, `The service refused the sign-in: ${error.message}`, 'Nothing was stored.', error);
}

const tooLate = (again: string, cause?: unknown) =>
  new Failure(EXIT.temporary, 'The code has expired. Nothing was stored.', `Start again with ${again}.`, cause);
