import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from './context.ts';
import { describe, Failure } from './failure.ts';
import { type Lock, takeLock } from './lock.ts';
import { findAllowedRepository, findOwnRepository, type Pipeline, visibilityOf } from './pipeline.ts';
import { createReach } from './reach.ts';
import { damageOf } from './spool/damage.ts';
import { createKeyOf } from './upload/client-key.ts';
import { createRegistration } from './upload/registration.ts';
import { createRetry, type RetryOptions } from './upload/retry.ts';
import { createService, type ServiceOptions } from './upload/service.ts';
import { Uploader, type UploaderOptions } from './upload/uploader.ts';

export interface SendingOptions
  extends Pick<UploaderOptions, 'signal' | 'orders' | 'onSent' | 'isPaused' | 'findStopped'>,
    Pick<RetryOptions, 'onTrouble'>,
    Pick<ServiceOptions, 'timeoutMs'> {
  /** How long a session is deferred that the service does not accept. Defaults to ten minutes. */
  deferMs?: number;
  /** How long to wait after an error of this machine, such as a full disk. Without it, such an error ends the sending. */
  restartMs?: number;
  /**
   * After a stop, a request in progress has this long to be answered. If it is not answered, it is sent again later, under the
   * same key. Defaults to five seconds.
   */
  farewellMs?: number;
}

export type Sending = ReturnType<typeof startSending>;

const LOCK_MS = 500;
const DEFER_MS = 10 * 60_000;
const FAREWELL_MS = 5000;

/** Sends the spool until the signal. Of several processes, one sends, and the others wait for it to end. */
export function startSending(context: Context, { settings, spool, folder, policy }: Pipeline, options: SendingOptions) {
  const { fetch, random, now, home } = context;
  const { signal, onTrouble, restartMs, deferMs = DEFER_MS, farewellMs = FAREWELL_MS } = options;
  const connections = new AbortController();
  const interrupt = () => connections.signal;
  const service = createService({ ...options, ...settings, fetch, interrupt });
  const retry = createRetry({ ...options, random });
  const repository = findOwnRepository(context);
  const registration = createRegistration(service, retry, context, { repository, disabledMs: deferMs });
  const isReachable = createReach({ home, now });
  const uploader = new Uploader({
    ...options,
    ...{ spool, service, retry, registration, now, deferMs },
    findRepository: (folder) => (isReachable(folder) ? findAllowedRepository(policy, folder) : undefined),
    visibilityOf: (session, about) => visibilityOf(spool, policy, session, about),
    keyOf: createKeyOf(context),
  });
  signal.addEventListener('abort', () => setTimeout(() => connections.abort(), farewellMs).unref());
  let lock: Lock | undefined = takeLock(folder, 'upload');
  let failure: unknown;

  async function send(): Promise<void> {
    while (!signal.aborted) {
      if (lock === undefined) await sleep(LOCK_MS, undefined, { signal });
      lock ??= takeLock(folder, 'upload');
      if (lock === undefined) continue;
      try {
        await uploader.run();
      } catch (error) {
        const damage = damageOf(error);
        const isBroken = damage === 'damaged' || damage === 'unsure';
        if (error instanceof Failure || restartMs === undefined || isBroken) throw error;
        onTrouble?.(describe(error));
        await sleep(restartMs, undefined, { signal });
      }
    }
  }

  const ended = send()
    .catch((error: unknown) => {
      if (!signal.aborted) failure = error;
    })
    .finally(() => lock?.release());

  const { failingMs, isFailing, lastTrouble } = retry;
  const { heartbeat, report } = registration;
  return {
    wake: () => uploader.wake(),
    isIdle: () => uploader.isIdle(),
    ...{ failingMs, isFailing, lastTrouble, heartbeat, report },
    /** Whether this process is the one that sends. */
    isMine: () => lock !== undefined,
    /** The error that ended the sending, if it was not asked to end. */
    failure: () => failure,
    /** Resolves when the requests in progress are answered. */
    ended,
  };
}
