import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from './context.ts';
import { describe, Failure } from './failure.ts';
import { type Lock, takeLock } from './lock.ts';
import type { Pipeline } from './pipeline.ts';
import { findRepository, findRoot } from './repository.ts';
import { damageOf } from './spool/damage.ts';
import { createGate } from './upload/gate.ts';
import { createRegistration } from './upload/registration.ts';
import { createService } from './upload/service.ts';
import { createUploader } from './upload/uploader.ts';

export interface SendingOptions {
  signal: AbortSignal;
  onSent?: (events: number) => void;
  onTrouble?: (sentence: string) => void;
  /** How long to wait after an error of this machine, such as a full disk; without it, that ends the sending. */
  restartMs?: number;
  isPaused?: () => boolean;
}

export type Sending = ReturnType<typeof startSending>;

/** A session is complete when its agent has been silent for this long. */
const QUIET_MS = 60 * 60 * 1000;
const LOCK_MS = 500;
/** What is being sent when asked to stop may be answered for this long; later it is sent again, under the same key. */
const FAREWELL_MS = 5000;

/**
 * Sends the spool for as long as the signal allows. Of several processes one sends, since a session must not be opened
 * twice; the others wait for its turn to end.
 */
export function startSending(context: Context, { settings, spool, folder }: Pipeline, options: SendingOptions) {
  const { fetch, random, now, hostname, platform } = context;
  const { signal, onSent, onTrouble, restartMs, isPaused } = options;
  let connections = new AbortController();
  const service = createService({ ...settings, fetch, interrupt: () => connections.signal });
  const gate = createGate({ random, signal, ...(onTrouble && { onTrouble }) });
  const repository = findRepository(context.folder);
  const registration = createRegistration(service, gate, { hostname, platform, repository });
  const uploader = createUploader({
    ...{ spool, service, gate, registration, signal, now },
    findRepository: findRoot,
    quietMs: QUIET_MS,
    ...(onSent && { onSent }),
    ...(isPaused && { isPaused }),
  });
  signal.addEventListener('abort', () => setTimeout(() => connections.abort(), FAREWELL_MS).unref());
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

  return {
    wake: uploader.wake,
    held: uploader.held,
    /** Tries again what an administrator had disabled, or the service refused. */
    reconsider(): void {
      registration.forget();
      uploader.reconsider();
    },
    /** Gives up connections that may be dead, as after a sleep, and does not wait any longer. */
    reconnect(): void {
      connections.abort();
      connections = new AbortController();
      gate.retryNow();
    },
    heartbeat: registration.heartbeat,
    failingMs: gate.failingMs,
    lastTrouble: gate.lastTrouble,
    /** Whether it is this process that sends. */
    isMine: () => lock !== undefined,
    /** Whether nothing can be sent or completed for now. */
    isIdle: uploader.isIdle,
    /** What ended the sending although it was not asked to end. */
    failure: () => failure,
    /** Resolves when what was being sent is answered. */
    ended,
  };
}
