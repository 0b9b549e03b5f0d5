import type { MachineReport } from '../../contract/environment.ts';
import { requireSettings, type Settings } from '../config.ts';
import type { Context } from '../context.ts';
import type { Spool } from '../spool/open.ts';
import { createRegistration, type Registration } from '../upload/registration.ts';
import { createService } from '../upload/service.ts';

/**
 * Reports what the service may know of this machine's state: counts, fixed words and times.
 * @param sending what is known while events are sent; undefined while capturing cannot start
 */
export type StateReport = (
  sending:
    | {
        spool: Spool;
        /** How many milliseconds this machine's clock is ahead of the service's. */
        aheadMs: number | undefined;
      }
    | undefined,
) => Promise<MachineReport>;

const TIMEOUT_MS = 10_000;

/**
 * Returns a function that reports the state of a machine while capturing cannot start, for instance because its preferences
 * have an error. Otherwise the dashboard would keep the last report, which may say that all is well.
 */
export function createFailureReport(context: Context, report: StateReport, everyMs: number): () => Promise<void> {
  let registered: { settings: string; registration: Registration } | undefined;
  let reportedAt = Number.NEGATIVE_INFINITY;

  function register(settings: Settings): Registration {
    const key = JSON.stringify(settings);
    if (registered?.settings !== key) {
      const service = createService({ ...settings, fetch: context.fetch, timeoutMs: TIMEOUT_MS });
      // A request that fails is repeated with the next report.
      const registration = createRegistration(service, { attempt: (request) => request() }, context);
      registered = { settings: key, registration };
    }
    return registered.registration;
  }

  return async () => {
    const now = context.now();
    if (now - reportedAt < everyMs) return;
    reportedAt = now;
    const registration = register(requireSettings(context));
    await registration.heartbeat();
    await registration.report(await report(undefined));
  };
}
