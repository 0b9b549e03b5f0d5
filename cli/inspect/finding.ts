import type { MachineState } from '../../contract/environment.ts';
import type { StatePlace } from '../config.ts';
import type { Context } from '../context.ts';
import type { OutputLine } from '../output.ts';
import type { Inspection } from './inspect.ts';

/** A problem that a check found: a sentence, and the command or edit that fixes it. */
export interface Finding {
  /** `warning`: capture may miss something. `failed`: capture is missing something. */
  outcome: 'warning' | 'failed';
  sentence: string;
  fix: string;
  times?: Times | undefined;
}

/** When a state of this machine began, and when it ends by itself. Milliseconds since 1970. */
export interface Times {
  since?: number | undefined;
  until?: number | undefined;
}

/** A finding with its check's name. Programs read that name, so it stays the same. */
export interface Checked extends Finding {
  check: MachineState;
}

/** Returns nothing if all is well, or if that cannot be known. */
export type Check = (inspection: Inspection, context: Context) => Finding | readonly Finding[] | undefined;

export const warning = (sentence: string, fix: string, times?: Times): Finding => ({
  outcome: 'warning',
  sentence,
  fix,
  times,
});
export const failed = (sentence: string, fix: string): Finding => ({ outcome: 'failed', sentence, fix });

const WORDS = { failed: ['red', 'Failed'], warning: ['yellow', 'Warning'] } as const;
const MARGIN = 9;

/** Describes a finding to people: a sentence, and the fix below it, as a person types it. */
export function describeFinding({ outcome, sentence, fix }: Checked, { home }: Pick<Context, 'home'>): OutputLine[] {
  const [colour, word] = WORDS[outcome];
  const margin = ' '.repeat(MARGIN);
  return [
    [colour, word.padEnd(MARGIN), withoutHome(sentence, home)],
    ['bold', `${margin}→ ${fix}`, ''],
  ];
}

/** Replaces the home folder, and removes credentials in addresses. */
export const withoutHome = (text: string, home: string): string =>
  nameFolder(text, home, '~').replace(/(:\/\/)[^/@\s]*@/g, '$1');

/** For a text that leaves this machine. The state folder may be outside the home folder. */
export const withoutFolders = (text: string, { variables: { CAPTURE_HOME = '' }, home }: StatePlace): string =>
  withoutHome(nameFolder(text, CAPTURE_HOME, '$CAPTURE_HOME'), home);

/** `/home/ada` is not a part of `/home/adam` or `/home/ada.old`, but a full stop after it ends a sentence. */
function nameFolder(text: string, folder: string, name: string): string {
  const bare = folder.replace(/[/\\]+$/, '');
  if (bare === '') return text;
  return text.replaceAll(bare, (found, at: number) => (LONGER_NAME.test(text.slice(at + found.length)) ? found : name));
}
const LONGER_NAME = /^\.?[\p{L}\p{N}_-]/u;

/** How a person upgrades the command line. */
export const INSTALL_NEWEST = 'Install the newest version in the same way as the present one, then `capture restart`.';
