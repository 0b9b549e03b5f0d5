import type { Settings } from '../config.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { findRepository } from '../repository.ts';
import { isTemporary } from '../upload/problem.ts';
import { AgentDisabled, createRegistration } from '../upload/registration.ts';
import { createRetry } from '../upload/retry.ts';
import { createService } from '../upload/service.ts';
import type { FoundAgent } from './agents.ts';

const PATIENCE_MS = 5000;

export interface Registered {
  environmentId: string;
  /** Sentences about agents that may not be captured. */
  troubles: string[];
}

/**
 * Registers this machine and its agents with the service; undefined where that does not answer in time, since sending
 * registers them as well. Throws a `Failure` when the machine may not capture.
 */
export async function register(
  context: Context,
  settings: Settings,
  agents: readonly FoundAgent[],
): Promise<Registered | undefined> {
  const { fetch, hostname, platform, random, now } = context;
  const signal = AbortSignal.any([context.stop, AbortSignal.timeout(PATIENCE_MS)]);
  const service = createService({ ...settings, fetch, timeoutMs: PATIENCE_MS });
  const machine = { hostname, platform, repository: findRepository(context.folder) };
  const registration = createRegistration(service, createRetry({ random, signal }), machine);
  try {
    const registered: Registered = { environmentId: await registration.environment(), troubles: [] };
    for (const id of new Set(agents.map(({ agent }) => agent.id))) {
      await registration.installation(id, undefined, now()).catch((error: unknown) => {
        if (!(error instanceof AgentDisabled)) throw error;
        registered.troubles.push(error.message);
      });
    }
    return registered;
  } catch (error) {
    const isTimeout = error instanceof Error && ['TimeoutError', 'AbortError'].includes(error.name);
    if (context.stop.aborted || error instanceof Failure || !(isTimeout || isTemporary(error))) throw error;
    return undefined;
  }
}
