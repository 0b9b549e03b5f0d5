import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../failure.ts';

/** While this file is there, nothing is read or sent. It may hold `{"since","until"}`, both ISO times; `until` ends it. */
export const pausedPath = (folder: string): string => join(folder, 'paused');

/** Pausing delays: what the agents write meanwhile is captured afterwards, from their transcripts. */
export function isPaused(folder: string, now: number): boolean {
  try {
    const { until } = JSON.parse(readFileSync(pausedPath(folder), 'utf8')) as { until?: unknown };
    return !(typeof until === 'string' && Date.parse(until) <= now);
  } catch (error) {
    // What is there and cannot be read was put there by somebody who wants no capture.
    return codeOf(error) !== 'ENOENT';
  }
}
