import type { ShareLevel } from '../../contract/share.ts';

/** What each level shows, in the same words for who shares and for who reads. */
export const LEVEL_WORDS: Record<ShareLevel, string> = {
  full: 'Prompts, answers, calls and their outputs are shown.',
  outline: 'Prompts, answers and calls are shown. Outputs and very large texts are left out.',
  figures: 'Only figures are shown. What was said and done is left out.',
};
