import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_LIMITS, layOutSmall, runCapture, SMALL_SESSIONS } from './import.ts';
import { startSeededService, withFolder } from './process.ts';
import type { Row } from './report.ts';

/** The counters of a service's limits are a minute long: those of the import must not be held against `verify`. */
const MINUTE_MS = 60_000;

/** `capture verify` of many sessions against the real service with its default limits. */
export function benchVerify(): Promise<Row[]> {
  return withFolder(async (folder) => {
    layOutSmall(folder);
    const service = await startSeededService(folder, DEFAULT_LIMITS);
    await runCapture(folder, service, 'import');
    await sleep(MINUTE_MS);
    const before = service.cpuSeconds();
    const run = await runCapture(folder, service, 'verify');
    const served = service.cpuSeconds() - before;
    await service.stop();
    const what = `verify, ${SMALL_SESSIONS.toLocaleString('en-US')} sessions`;
    const detail = `${run.cpuSeconds.toFixed(1)} s of CPU; the service used ${served.toFixed(1)} s`;
    return [
      { what, figure: run.seconds, unit: 's', goal: '≤ 30', detail },
      { what: `${what}, peak memory`, figure: run.peakMegabytes, unit: 'MB', goal: '≤ 150', detail: 'all processes' },
    ];
  });
}
