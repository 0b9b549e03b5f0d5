import type { Span } from '../mark.ts';
import { endOfToken, isFiller, isUserAndPassword, measureEntropy } from '../values.ts';
import { findList } from './list.ts';
import { endOfKey, startOfKey } from './private-key.ts';
import type { Rule } from './rule.ts';

/** Groups the rules by their keywords. */
export function groupByKeyword(rules: readonly Rule[]) {
  const byWord = new Map<string, Rule[]>();
  for (const rule of rules)
    for (const keyword of rule.keywords) byWord.set(keyword, [...(byWord.get(keyword) ?? []), rule]);
  return { keywords: [...byWord.keys()], byKeyword: [...byWord.values()] };
}

/** Tries a rule at its keyword. `isNext`: another token of the rule ends here. */
export function matchRule(rule: Rule, text: string, keywordStart: number, isNext = false): Span | undefined {
  const start = keywordStart - rule.lead;
  if (start < 0 || !(rule.inside || isNext || startsWord(text, start))) return undefined;
  rule.pattern.lastIndex = start;
  const match = rule.pattern.exec(text);
  if (match === null) return undefined;
  const [from, found] = findSecret(rule, text, match);
  if (found - from < SHORTEST) return undefined;
  const to = found - from < LONGEST ? found : endOfToken(text, found);
  const secret = text.slice(from, to);
  if (rule.named && !/\d/.test(secret)) return undefined;
  if (rule.extent === 'cookie' && !isInCookie(text, match.index)) return undefined;
  if (rule.extent === 'basic' && !isUserAndPassword(secret)) return undefined;
  // The beginning shows whether it is a filler. Reading a long one again for each keyword in it would be expensive.
  const sample = secret.slice(0, 128);
  if (rule.entropy > 0 && (measureEntropy(sample) < rule.entropy || isFiller(sample))) return undefined;
  return { start: from, end: to, rule: rule.id, secret };
}

/** Letters. */
const MAX_COOKIE = 1000;

function isInCookie(text: string, index: number): boolean {
  const before = text.slice(Math.max(0, index - MAX_COOKIE), index).toLowerCase();
  const header = before.slice(before.lastIndexOf('cookie'));
  return /^cookie["']?[:=,]/.test(header) && !header.includes('\n');
}

const SHORTEST = 3;
/** The patterns read this much of a token without a fixed length. The rest of the token is just as secret. */
const LONGEST = 4000;

function findSecret(rule: Rule, text: string, match: RegExpExecArray): readonly [number, number] {
  const end = match.index + match[0].length;
  if (rule.extent === 'lines') return [match.index, endOfKey(text, end)];
  if (rule.extent === 'lines-before') return [startOfKey(text, match.index), match.index];
  if (rule.extent === 'codes' || rule.extent === 'words') return findList(rule.extent, text, end);
  return match.indices?.[1] ?? [match.index, end];
}

/** No secret begins after a letter or digit, unless these end an escape: `\n`, `\u001b`, `%3D`, `ESC[0m`. */
function startsWord(text: string, index: number): boolean {
  const before = text.slice(Math.max(0, index - 1), index);
  if (before === '\n') return !DATA_LINES.test(text.slice(Math.max(0, index - MIN_LINE - 2), index + NEXT_LETTERS));
  if (before === '/' || before === '+') return !DATA.test(text.slice(Math.max(0, index - DATA_LENGTH), index));
  return !LETTER_OR_DIGIT.test(before) || ESCAPE_BEFORE.test(text.slice(Math.max(0, index - 9), index));
}

/** A line of wrapped base64, and the start of the next one. No token begins there. */
const MIN_LINE = 60;
const NEXT_LETTERS = 30;
const DATA_LINES = new RegExp(
  String.raw`^[A-Za-z0-9/+]?[A-Za-z0-9/+]{${MIN_LINE}}\r?\n[A-Za-z0-9/+]{${NEXT_LETTERS}}$`,
);

const LETTER_OR_DIGIT = /[A-Za-z0-9]/;
const ESCAPE_BEFORE = /(?:\\[nrtbfv]|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|%[0-9a-f]{2}|\[[\d;]{0,6}m)$/i;
/** Long runs of base64 are data, and any short beginning of a token occurs in them. Their lines may be wrapped. */
const DATA_LENGTH = 100;
const DATA = new RegExp(String.raw`^[A-Za-z0-9/+\n\r\\]{${DATA_LENGTH}}$`);
