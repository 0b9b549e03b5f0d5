import type { Context } from '../context.ts';
import type { Line } from '../output.ts';
import type { Inspection } from './inspect.ts';

/** `warning`: something may be missed. `failed`: something is missed. */
export type Outcome = 'ok' | 'warning' | 'failed' | 'skipped';

/** What a check found: a sentence, and the command or edit that mends it. */
export interface Finding {
  outcome: Outcome;
  sentence: string;
  fix?: string;
  /** For the person alone: names of folders and the like, which have no place in a report of a bug. */
  private?: readonly string[];
}

/** A finding, and which check found it: a word for programs, which stays. */
export interface Checked extends Finding {
  check: string;
}

export type Check = (inspection: Inspection, context: Context) => Finding | readonly Finding[];

export const ok = (sentence: string): Finding => ({ outcome: 'ok', sentence });
export const skipped = (sentence: string): Finding => ({ outcome: 'skipped', sentence });
export const warning = (sentence: string, fix: string): Finding => ({ outcome: 'warning', sentence, fix });
export const failed = (sentence: string, fix: string): Finding => ({ outcome: 'failed', sentence, fix });

const WORDS = {
  failed: ['red', 'Failed'],
  warning: ['yellow', 'Warning'],
  ok: ['green', 'OK'],
  skipped: ['dim', 'Skipped'],
} as const satisfies { [outcome in Outcome]: readonly [Line[0], string] };

const MARGIN = 9;
const MAX_PRIVATE = 5;

/** A finding for people: a sentence, and below it what mends it, as it is typed. */
export function describeFinding({ outcome, sentence, fix, ...more }: Checked, { home }: Pick<Context, 'home'>): Line[] {
  const [colour, word] = WORDS[outcome];
  const margin = ' '.repeat(MARGIN);
  return [
    [colour, word.padEnd(MARGIN), withoutHome(sentence, home)],
    ...(more.private ?? []).slice(0, MAX_PRIVATE).map((text) => `${margin}- ${withoutHome(text, home)}`),
    ...(fix === undefined ? [] : ([['bold', `${margin}→ ${fix}`, '']] as const)),
  ];
}

/** Nor what an address may hold before its host. */
export const withoutHome = (text: string, home: string): string =>
  (home.length > 1 ? text.replaceAll(home, '~') : text).replace(/(:\/\/)[^/@\s]*@/g, '$1');
