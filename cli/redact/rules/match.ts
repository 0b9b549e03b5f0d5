import type { Span } from '../mark.ts';
import { isFiller, measureEntropy } from '../values.ts';
import type { Rule } from './rule.ts';

export interface PreparedRule extends Rule {
  sticky: RegExp;
}

export function prepareRules(rules: readonly Rule[]) {
  const byWord = new Map<string, PreparedRule[]>();
  for (const rule of rules) {
    const flags = `y${rule.pattern.flags}${rule.group === undefined ? '' : 'd'}`;
    const prepared = { ...rule, sticky: new RegExp(rule.pattern.source, flags) };
    for (const keyword of rule.keywords) byWord.set(keyword, [...(byWord.get(keyword) ?? []), prepared]);
  }
  return { keywords: [...byWord.keys()], byKeyword: [...byWord.values()] };
}

/** Tries a rule where its keyword stands. */
export function matchRule(rule: PreparedRule, text: string, keywordStart: number): Span | undefined {
  const start = keywordStart - (rule.lead ?? 0);
  if (start < 0 || (rule.inside !== true && !startsWord(text, start))) return undefined;
  rule.sticky.lastIndex = start;
  const match = rule.sticky.exec(text);
  if (match === null) return undefined;
  const [from, to] = findSecret(rule, text, start, match);
  if (from === undefined || to === undefined) return undefined;
  const secret = text.slice(from, to);
  // Its beginning tells a filler; reading all of a long one again for each keyword in it would not be cheap.
  const sample = secret.slice(0, 128);
  if (rule.entropy !== undefined && (measureEntropy(sample) < rule.entropy || isFiller(sample))) return undefined;
  return { start: from, end: to, rule: rule.id, secret };
}

function findSecret(rule: PreparedRule, text: string, start: number, match: RegExpExecArray): (number | undefined)[] {
  if (rule.reach !== undefined) return [reachBack(rule.reach, text, start), start + match[0].length];
  return rule.group === undefined ? [start, start + match[0].length] : (match.indices?.[rule.group] ?? []);
}

const LONGEST_REACH = 20_000;
const SHORTEST_REACH = 40;

/** Undefined where hardly anything is there. */
function reachBack(letter: RegExp, text: string, end: number): number | undefined {
  let start = end;
  while (start > 0 && end - start < LONGEST_REACH && letter.test(text.charAt(start - 1))) start--;
  return end - start < SHORTEST_REACH ? undefined : start;
}

/** After a letter or digit no secret begins, unless they end an escape: `\n`, `\u001b`, `%3D`, `ESC[0m`. */
function startsWord(text: string, index: number): boolean {
  if (index === 0 || !isLetterOrDigit(text.charCodeAt(index - 1))) return true;
  return ESCAPE_BEFORE.test(text.slice(Math.max(0, index - 9), index));
}

const ESCAPE_BEFORE = /(?:\\[nrtbfv]|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|%[0-9a-f]{2}|\[[\d;]{0,6}m)$/i;

function isLetterOrDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}
