import type { Settings } from '../config.ts';
import type { Context } from '../context.ts';
import { findRepository } from '../repository.ts';
import { AgentDisabled, createRegistration } from '../upload/registration.ts';
import { createRetry } from '../upload/retry.ts';
import { createService } from '../upload/service.ts';
import type { FoundAgent } from './found.ts';

const PATIENCE_MS = 5000;

export interface Registered {
  environmentId: string;
  /** Ids of installations, by agent. */
  installations: { [agent: string]: string };
  /** Sentences about agents that could not be registered. */
  troubles: string[];
}

/**
 * Registers this machine and its agents with the service. Throws a `Failure` when the machine may not capture, and the
 * cause when the service does not answer in time.
 */
export async function register(
  context: Context,
  settings: Settings,
  agents: readonly FoundAgent[],
): Promise<Registered> {
  const { fetch, hostname, platform, random, now } = context;
  const signal = AbortSignal.any([context.stop, AbortSignal.timeout(PATIENCE_MS)]);
  const service = createService({ ...settings, fetch, timeoutMs: PATIENCE_MS });
  const machine = { hostname, platform, repository: findRepository(context.folder) };
  const registration = createRegistration(service, createRetry({ random, signal }), machine);
  const registered: Registered = { environmentId: await registration.environment(), installations: {}, troubles: [] };
  for (const { row, version } of agents) {
    try {
      registered.installations[row.id] = await registration.installation(row.id, version, now());
    } catch (error) {
      if (!(error instanceof AgentDisabled)) throw error;
      registered.troubles.push(error.message);
    }
  }
  return registered;
}
