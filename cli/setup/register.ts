import type { Settings } from '../config.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { findRepository } from '../repository.ts';
import { isTemporary } from '../upload/problem.ts';
import { createRegistration } from '../upload/registration.ts';
import { createRetry } from '../upload/retry.ts';
import { createService } from '../upload/service.ts';

const PATIENCE_MS = 5000;

/**
 * Registers this machine with the service, and returns its id there; undefined where that does not answer in time, since
 * sending registers it as well. Throws a `Failure` when the machine may not capture.
 */
export async function register(context: Context, settings: Settings): Promise<string | undefined> {
  const { fetch, hostname, platform, random } = context;
  const signal = AbortSignal.any([context.stop, AbortSignal.timeout(PATIENCE_MS)]);
  const service = createService({ ...settings, fetch, timeoutMs: PATIENCE_MS });
  const machine = { hostname, platform, repository: findRepository(context.folder) };
  try {
    return await createRegistration(service, createRetry({ random, signal }), machine).environment();
  } catch (error) {
    const isTimeout = error instanceof Error && ['TimeoutError', 'AbortError'].includes(error.name);
    if (context.stop.aborted || error instanceof Failure || !(isTimeout || isTemporary(error))) throw error;
    return undefined;
  }
}
