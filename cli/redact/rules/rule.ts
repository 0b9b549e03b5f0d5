/** How the secrets of one kind look. */
export interface Rule {
  id: string;
  /** Lower case. The pattern is tried where one of them stands, and nowhere else. */
  keywords: readonly string[];
  /** Matches from the keyword on (`lead` letters before it); its first group is the secret, if it has one. */
  pattern: RegExp;
  lead: number;
  /** The least entropy of the secret in bits per letter, where the pattern alone would match words. */
  entropy: number;
  /** The keyword may stand inside a word: it is the name of a vendor, not the start of a secret. */
  inside: boolean;
  /** It has a digit, where only the name of a vendor tells it. */
  named: boolean;
  /** What else is the secret: what the lines after it hold, or only what decodes to `user:password`. */
  extent: Extent | undefined;
}

/** `lines`: the key that begins here. `lines-before`: the key that ends here. `basic`: decodes to `user:password`.
 * `cookie`: stands in a header of cookies. */
type Extent = 'lines' | 'lines-before' | 'basic' | 'cookie';

/** Between a name and its value: closing quote, `=` or `:`, opening quote. */
const ASSIGNMENT =
  '[\\w.\\x20-]{0,24}(?:\\\\{0,3}["\'`])?[\\x20\\t]{0,4}[:=,(]{1,2}>?[\\x20\\t]{0,4}(?:\\\\{0,3}["\'`])?';

const MACROS: { [macro: string]: string } = {
  '{=}': ASSIGNMENT,
  '{uuid}': '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
  '{!}': '(?![A-Za-z0-9])',
  '{!-}': '(?![\\w+/-])',
};

/**
 * Reads a table with a rule a line: `id  keywords  pattern  options`, two blanks between. A keyword `gh[op]_` stands for
 * `gho_` and `ghp_`. In a pattern `{=}` is what stands between a name and its value, `{uuid}` a UUID, `{!}` and `{!-}` the
 * end of a word. Options: `e3.5` (entropy), `lead32`, `i` (capitals or not), `inside`, `lines`, `basic`
 * and `cookie`.
 */
export function readRules(table: string): Rule[] {
  return table.split('\n').filter(Boolean).map(readRule);
}

function readRule(line: string): Rule {
  const [id = '', keywords = '', source = '', options = ''] = line.split(/ {2,}/);
  const named = source.includes('{=}');
  const pattern =
    source.replace(/\{(?:=|uuid|!-?)\}/g, (macro) => MACROS[macro] ?? macro) + (named ? MACROS['{!-}'] : '');
  const words = options.split(' ');
  const readNumber = (name: string) =>
    Number(words.find((word) => /^\d/.test(word.slice(name.length)) && word.startsWith(name))?.slice(name.length) ?? 0);
  return {
    id,
    keywords: keywords
      .split(',')
      .flatMap(expand)
      .map((keyword) => keyword.replaceAll('\\x20', ' ')),
    pattern: new RegExp(pattern, named || words.includes('i') ? 'dyi' : 'dy'),
    lead: readNumber('lead'),
    entropy: readNumber('e'),
    named,
    inside: named || words.includes('inside'),
    extent: (['lines', 'lines-before', 'basic', 'cookie'] as const).find((extent) => words.includes(extent)),
  };
}

/** `a[bc]d` → `abd`, `acd`. */
function expand(keyword: string): string[] {
  const [, before = '', letters = '', after = ''] = /^([^[]*)\[([^\]]+)\](.*)$/.exec(keyword) ?? [];
  return letters === '' ? [keyword] : [...letters].flatMap((letter) => expand(before + letter + after));
}
