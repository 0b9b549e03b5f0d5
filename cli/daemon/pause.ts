import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../failure.ts';

/** While this file is there, nothing is read or sent. It may hold `{"since","until"}`, both ISO times; `until` ends it. */
export const pausedPath = (folder: string): string => join(folder, 'paused');

/** Pausing delays: what the agents write meanwhile is captured afterwards, from their transcripts. */
export function isPaused(folder: string, now: number): boolean {
  let text: string;
  try {
    text = readFileSync(pausedPath(folder), 'utf8');
  } catch (error) {
    // What is there and cannot be read was put there by somebody who wants no capture.
    return codeOf(error) !== 'ENOENT';
  }
  return !(untilOf(text) <= now);
}

function untilOf(text: string): number {
  try {
    const { until } = JSON.parse(text) as { until?: unknown };
    return typeof until === 'string' ? Date.parse(until) : Number.NaN;
  } catch {
    return Number.NaN;
  }
}
