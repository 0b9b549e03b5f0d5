import type { Context } from '../context.ts';
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

type Answer = Finding | readonly Finding[];
export type Check = (inspection: Inspection, context: Context) => Answer | Promise<Answer>;

export const ok = (sentence: string): Finding => ({ outcome: 'ok', sentence });
export const skipped = (sentence: string): Finding => ({ outcome: 'skipped', sentence });
export const warning = (sentence: string, fix: string): Finding => ({ outcome: 'warning', sentence, fix });
export const failed = (sentence: string, fix: string): Finding => ({ outcome: 'failed', sentence, fix });
