import { requireSettings } from '../config.ts';
import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import { createStateReport } from '../inspect/report.ts';
import type { Output } from '../output.ts';
import { createRegistration } from '../upload/registration.ts';
import { createService } from '../upload/service.ts';

const TIMEOUT_MS = 10_000;

/** Reports the state of this machine with the result of the last comparison. The daemon reports it again. */
export async function tellComparison(context: Context, output: Output): Promise<void> {
  const service = createService({ ...requireSettings(context), fetch: context.fetch, timeoutMs: TIMEOUT_MS });
  const registration = createRegistration(service, { attempt: (request) => request() }, context);
  try {
    await registration.report(await createStateReport(context)(undefined));
    output.say('The result was reported to the service: admins see it on the page Machines.');
  } catch (error) {
    output.warn(`The result was not reported: ${describe(error)}. The daemon reports it within a minute.`);
  }
}
