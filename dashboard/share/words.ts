import type { ShareLevel } from '../../contract/share.ts';

/** What each level shows, in the same words for who shares and for who reads. */
export const LEVEL_WORDS: Record<ShareLevel, string> = {
  full: 'Everything that was said and done is shown.',
  outline: 'Outputs are left out. Prompts, answers, and what tools were asked are shown.',
  figures: 'Only figures are shown. What was said and done is left out.',
};
