import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_LIMITS, layOutSmall, runCapture, SMALL_SESSIONS } from './import.ts';
import { startSeededService, withFolder } from './process.ts';
import type { Row } from './report.ts';

/** The window of the service's rate limits: after it, the requests of the import no longer count against `verify`. */
const MINUTE_MS = 60_000;

/** Measures `capture verify` of many sessions with the real service and its default limits. */
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
