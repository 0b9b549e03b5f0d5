import { RULES } from '../rules/all.ts';
import { makeExample } from './made.ts';

/** Examples that a rule finds, and examples that it leaves. */
export interface RuleExamples {
  [rule: string]: { hit: readonly string[]; miss: readonly string[] };
}

/** Examples that the rules find or leave, by rule id. */
export const RULE_EXAMPLES: RuleExamples = Object.fromEntries(
  [...Map.groupBy(RULES, ({ id }) => id)].map(([id, rules]) => [
    id,
    {
      hit: [...new Set(rules.flatMap(({ yes }) => yes.map(makeExample)))],
      miss: [...new Set(rules.flatMap(({ no }) => no.map(makeExample)))],
    },
  ]),
);
