import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, expect } from 'vitest';
import type { Usage } from './waits.ts';

// The test runner loads this file before each test file, and its report says nothing about processors.

/** A tick of the system's clock of processor time: 10 ms on every Linux. */
const TICK = 0.01;
/** Where the times of this process and its ended children begin in `/proc/self/stat`, after the name in parentheses. */
const TIMES = 11;

const { CAPTURE_TEST_USAGE: file } = process.env;

/** In seconds: the time, the processor time of this process and its ended children, and how long it had to queue for a processor. */
function measure() {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const times = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(TIMES, TIMES + 4);
  const [, queued] = readFileSync('/proc/self/schedstat', 'utf8').split(' ');
  return {
    wall: performance.now() / 1000,
    processor: times.reduce((sum, ticks) => sum + Number(ticks), 0) * TICK,
    queued: Number(queued) / 1e9,
  };
}

if (file !== undefined && existsSync('/proc/self/schedstat')) {
  const before = measure();
  afterAll(() => {
    const after = measure();
    const usage: Usage = {
      file: relative(process.cwd(), expect.getState().testPath ?? ''),
      wall: after.wall - before.wall,
      processor: after.processor - before.processor,
      queued: after.queued - before.queued,
    };
    appendFileSync(file, `${JSON.stringify(usage)}\n`);
  });
}
