import type { ListKind } from './list.ts';

/** The form of one kind of secret. */
export interface Rule {
  id: string;
  /** Lower case. The pattern is tried only at these words. */
  keywords: readonly string[];
  /** Matches from `lead` letters before the keyword. Its first group is the secret, if it has one. */
  pattern: RegExp;
  lead: number;
  /** The least entropy of the secret in bits per letter, for a pattern that would also match words. */
  entropy: number;
  /** The keyword may be inside a word: it is the name of a vendor, not the start of a secret. */
  inside: boolean;
  /** The secret must contain a digit, because only the name of a vendor identifies it. */
  named: boolean;
  /** Further conditions: the secret also covers other lines, or must decode to `user:password`. */
  extent: Extent | undefined;
  /** Texts in which the rule finds a secret, and texts in which it finds none; see `Options`. */
  yes: readonly string[];
  no: readonly string[];
}

/**
 * `lines`: the key that begins here. `lines-before`: the key that ends here. `basic`: decodes to `user:password`. `cookie`:
 * is in a header of cookies. `codes`, `words`: the list with this name.
 */
type Extent = 'lines' | 'lines-before' | 'basic' | 'cookie' | ListKind;

interface Options {
  entropy?: number;
  lead?: number;
  inside?: true;
  extent?: Extent;
  /**
   * Examples, which the tests check. `<alnum 40>` means forty random letters (`<alnum 40 2>` means others), `<uuid>` means a
   * UUID, and `<encode …>` means the base64 of a text. So no token is in this repository, not even a made-up one.
   */
  yes: string | readonly string[];
  no: string | readonly string[];
}

/** A keyword `gh[op]_` means `gho_` and `ghp_`. The flag `i` of the pattern counts; other flags are set here. */
export function rule(id: string, keywords: readonly string[], pattern: RegExp, options: Options): Rule {
  const { entropy = 0, lead = 0, inside = false, extent, yes, no } = options;
  return {
    id,
    keywords: keywords.flatMap(expand),
    pattern: new RegExp(pattern.source, pattern.ignoreCase ? 'dyi' : 'dy'),
    lead,
    entropy,
    inside,
    named: false,
    extent,
    yes: [yes].flat(),
    no: [no].flat(),
  };
}

/** The text between a name and its value: closing quote, `=` or `:`, opening quote. */
const ASSIGNMENT = /[\w. -]{0,24}(?:\\{0,3}["'`])?[ \t]{0,4}[:=,(]{1,2}>?[ \t]{0,4}(?:\\{0,3}["'`])?/;
const END = /(?![\w+/-])/;

/** A secret without a form of its own, after the name of its vendor: `name` and `secret` with an assignment between them. */
export function named(id: string, keywords: readonly string[], name: RegExp, secret: RegExp, options: Options): Rule {
  const pattern = new RegExp([name, ASSIGNMENT, secret, END].map(({ source }) => source).join(''), 'i');
  return { ...rule(id, keywords, pattern, { ...options, inside: true }), named: true };
}

/** `a[bc]d` → `abd`, `acd`. */
function expand(keyword: string): string[] {
  const [, before = '', letters = '', after = ''] = /^([^[]*)\[([^\]]+)\](.*)$/.exec(keyword) ?? [];
  return letters === '' ? [keyword] : [...letters].flatMap((letter) => expand(before + letter + after));
}
