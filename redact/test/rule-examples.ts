import { RULES } from '../rules/all.ts';
import { makeExample } from './made.ts';

/** What a rule finds, and what it leaves. */
export interface RuleExamples {
  [rule: string]: { hit: readonly string[]; miss: readonly string[] };
}

/** What the rules find and what they leave, by their ids. */
export const RULE_EXAMPLES: RuleExamples = Object.fromEntries(
  [...Map.groupBy(RULES, ({ id }) => id)].map(([id, rules]) => [
    id,
    {
      hit: [...new Set(rules.flatMap(({ yes }) => yes.map(makeExample)))],
      miss: [...new Set(rules.flatMap(({ no }) => no.map(makeExample)))],
    },
  ]),
);
