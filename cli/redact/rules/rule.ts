/** How the secrets of one kind look. */
export interface Rule {
  id: string;
  /** Lower case. The pattern is tried where one of them stands, and nowhere else. */
  keywords: readonly string[];
  /** Matches from the keyword on (`lead` letters before it). Each repetition is bounded: the work per keyword is too. */
  pattern: RegExp;
  /** How many letters before the keyword the pattern starts. */
  lead?: number;
  /** What the secret also takes in before the keyword, however much of it there is: the body that a footer ends. */
  reach?: RegExp;
  /** The group that holds the secret, where it is not the whole match. */
  group?: number;
  /** The least entropy of the secret in bits per letter, where the pattern alone would match words. */
  entropy?: number;
  /** The keyword may stand inside a word: it is the name of a vendor, not the start of a secret. */
  inside?: boolean;
  examples: { hit: readonly string[]; miss: readonly string[] };
}

/** Between a name and its value: closing quote, `=` or `:`, opening quote, an authentication scheme. */
const ASSIGNMENT =
  '[\\w.\\x20-]{0,24}(?:\\\\{0,3}["\'`])?[\\x20\\t]{0,4}[:=,(]{1,2}>?[\\x20\\t]{0,4}(?:\\\\{0,3}["\'`])?';

/** A value that only its name tells from other values of the same look: `DATADOG_API_KEY=…`. */
export function assigned(name: string, value: string): RegExp {
  return new RegExp(`${name}${ASSIGNMENT}(${value})(?![\\w+/-])`, 'i');
}
