import type { StatePlace } from '../config.ts';
import type { Context } from '../context.ts';
import type { OutputLine } from '../output.ts';
import type { Inspection } from './inspect.ts';

/** What a check found to be wrong: a sentence, and the command or edit that mends it. */
export interface Finding {
  /** `warning`: something may be missed. `failed`: something is missed. */
  outcome: 'warning' | 'failed';
  sentence: string;
  fix: string;
}

/** A finding, and which check found it: a word for programs, which stays. */
export interface Checked extends Finding {
  check: string;
}

/** Answers nothing where all is well, or where it cannot be known. */
export type Check = (inspection: Inspection, context: Context) => Finding | readonly Finding[] | undefined;

export const warning = (sentence: string, fix: string): Finding => ({ outcome: 'warning', sentence, fix });
export const failed = (sentence: string, fix: string): Finding => ({ outcome: 'failed', sentence, fix });

const WORDS = { failed: ['red', 'Failed'], warning: ['yellow', 'Warning'] } as const;
const MARGIN = 9;

/** A finding for people: a sentence, and below it what mends it, as it is typed. */
export function describeFinding({ outcome, sentence, fix }: Checked, { home }: Pick<Context, 'home'>): OutputLine[] {
  const [colour, word] = WORDS[outcome];
  const margin = ' '.repeat(MARGIN);
  return [
    [colour, word.padEnd(MARGIN), withoutHome(sentence, home)],
    ['bold', `${margin}→ ${fix}`, ''],
  ];
}

/** Nor what an address may hold before its host. */
export const withoutHome = (text: string, home: string): string =>
  nameFolder(text, home, '~').replace(/(:\/\/)[^/@\s]*@/g, '$1');

/** For a text that leaves this machine: the folder of state may lie anywhere. */
export const withoutFolders = (text: string, { variables: { CAPTURE_HOME = '' }, home }: StatePlace): string =>
  withoutHome(nameFolder(text, CAPTURE_HOME, '$CAPTURE_HOME'), home);

/** `/home/ada` is no part of `/home/adam` and `/home/ada.old`; a full stop behind it ends a sentence. */
function nameFolder(text: string, folder: string, name: string): string {
  const bare = folder.replace(/[/\\]+$/, '');
  if (bare === '') return text;
  return text.replaceAll(bare, (found, at: number) => (LONGER_NAME.test(text.slice(at + found.length)) ? found : name));
}
const LONGER_NAME = /^\.?[\p{L}\p{N}_-]/u;
