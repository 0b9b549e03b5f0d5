import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';

/**
 * Says which test files wait for a clock instead of working, and fails if one of them is in everybody's way. Its arguments are the file with
 * the usages, and `--report` if it should only report.
 */

/** What a test file used, in seconds. PostgreSQL and the bus belong to all files, so their processor time counts for none. */
export interface Usage {
  file: string;
  wall: number;
  processor: number;
  /** How long the process was ready, but other processes had the processors. */
  queued: number;
}

const MAX_SECONDS = 8;
const MIN_SHARE = 0.3;

/** Files that may wait, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

/** Other work on the machine slows down the programs that tests start, and makes them look idle. */
const isMachineBusy = () => (loadavg()[0] ?? 0) > 3 * availableParallelism();

/** The share of a processor while the file could have one. */
const shareOf = ({ wall, processor, queued }: Usage) => processor / Math.max(wall - queued, processor);

const [path = '', option] = process.argv.slice(2);
const usages = existsSync(path)
  ? readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Usage)
  : [];
const waiting = usages.filter((usage) => usage.wall - usage.queued > MAX_SECONDS && shareOf(usage) < MIN_SHARE);
for (const usage of waiting.toSorted((one, other) => other.wall - one.wall)) {
  const reason = EXCEPTIONS[usage.file];
  const share = Math.round(shareOf(usage) * 100);
  console.log(
    `Waits: ${usage.file} took ${usage.wall.toFixed(1)} s with ${share} % of a processor: ${reason ?? 'pass its clock as an argument, or name a reason in script/check/waits.ts'}`,
  );
  if (reason === undefined && option !== '--report' && !isMachineBusy()) process.exitCode = 1;
}
