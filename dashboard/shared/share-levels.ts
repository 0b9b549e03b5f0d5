import type { ShareLevel } from '../../contract/share.ts';

/** Says what each level shows, in the same words to the person who shares and to the reader. */
export const LEVEL_WORDS: Record<ShareLevel, string> = {
  full: 'Prompts, answers, calls and their outputs are shown.',
  outline: 'Prompts, answers and calls are shown. Outputs and very large texts are left out.',
  figures: 'Only figures are shown, without prompts, answers and calls.',
};
