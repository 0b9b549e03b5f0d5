import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, ServiceError } from '../../contract/client.ts';
import type { CollectedSecret, StartedDevice } from '../../contract/device.ts';
import { paths } from '../../dashboard/app/paths.ts';
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
 * Asks a person to confirm this machine in the dashboard, and returns the secret that the service issues for it. The address
 * and the code are always printed first.
 * @throws Failure if nobody confirms it
 */
export async function signInByDevice(context: Context, url: string, browser: boolean) {
  const { client } = createService({ url, secret: '', fetch: context.fetch, timeoutMs: SIGN_IN_MS });
  const started = await begin(context, client, url);
  const page = (await findDashboard(context, url)) + paths.device(started.userCode);
  const minutes = Math.round(started.expiresIn / 60);
  context.stderr.write(
    toPlainText(
      `To sign this machine in, open\n\n    ${page}\n\nand confirm the code ${started.userCode} there, within ${minutes} minutes.\n`,
    ),
  );
  if (browser && !isRemote(context)) await openInBrowser(context, page);
  context.stderr.write('Waiting for confirmation …\n');
  const { value, organizationName, secret } = await collect(context, client, started);
  return { secret: value, organizationName, plane: secret.secretEnvironment };
}

/** Over SSH, a browser would open on a screen that nobody sees. */
const isRemote = ({ variables }: Context) => Boolean(variables.SSH_CONNECTION || variables.SSH_TTY);

async function begin(context: Context, client: Client, url: string): Promise<StartedDevice> {
  const { hostname, platform } = context;
  try {
    const body = { hostname: nameOfMachine(hostname), platform: toPlatform(platform), serviceCliVersion: VERSION };
    return (await client.startDeviceSignIn({ body })).body;
  } catch (error) {
    throw explainTrouble(url, error, 'Nothing was stored.');
  }
}

async function collect(context: Context, client: Client, started: StartedDevice): Promise<CollectedSecret> {
  const end = context.now() + started.expiresIn * 1000;
  let interval = started.interval;
  while (context.now() < end) {
    await pause(interval, context.stop);
    try {
      return (await client.collectDeviceSecret({ body: { deviceCode: started.deviceCode } })).body;
    } catch (error) {
      if (hasCode(error, 'slow_down')) interval += SLOWER_S;
      else if (hasStatus(error, 429)) await pause(error.retryAfter ?? interval, context.stop);
      else if (!hasCode(error, 'authorization_pending') && !isTemporary(error)) throw explain(error);
    }
  }
  throw tooLate();
}

async function pause(seconds: number, stop: AbortSignal): Promise<void> {
  try {
    await sleep(seconds * 1000, undefined, { signal: stop });
  } catch (error) {
    throw stop.aborted ? new Declined('Interrupted. Nothing was stored.') : error;
  }
}

function explain(error: unknown): unknown {
  if (hasCode(error, 'access_denied'))
    return new Declined('The sign-in was refused in the dashboard. Nothing was stored.');
  if (hasCode(error, 'expired_token')) return tooLate(error);
  if (!(error instanceof ServiceError)) return error;
  return new Failure(EXIT.failure, `The service issued no secret: ${error.message}`, 'Nothing was stored.', error);
}

const tooLate = (cause?: unknown) =>
  new Failure(EXIT.temporary, 'The code has expired. Nothing was stored.', 'Start again with `capture login`.', cause);
