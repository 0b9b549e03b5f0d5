import { EXIT } from '../failure.ts';
import type { Term } from './page.ts';

const MEANINGS: { [name in keyof typeof EXIT]: string } = {
  ok: 'Done.',
  failure: 'It failed. The message says why, and what to do about it.',
  usage: 'The command was not understood, or a file or setting that it names is wrong. Nothing was done.',
  signInRequired: 'A sign-in is needed, or the secret is not valid any more. What was captured is kept.',
  temporary: 'Try again later: the service cannot be reached or is busy. Nothing is lost.',
};

/** Every exit code, in the order of the codes. */
export const EXIT_CODES: readonly Term[] = Object.entries(MEANINGS).map(([name, meaning]) => [
  String(EXIT[name as keyof typeof EXIT]),
  meaning,
]);
