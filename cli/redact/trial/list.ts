import { KEY_NAME } from '../assignments.ts';
import { createKeywordScanner } from '../keywords.ts';
import { KNOWN_VALUE } from '../known/finder.ts';
import { RULE_GROUPS } from '../rules/all.ts';
import { CUT_TOKEN } from '../rules/cut.ts';
import { matchRule, prepareRules } from '../rules/match.ts';
import type { Rule } from '../rules/rule.ts';

export interface ListedRule {
  id: string;
  /** What it finds the secrets of. */
  of: string;
  /** An example, with the secret left out: `GITHUB_TOKEN=ghp_…`. */
  shape: string;
}

const WIDTH = 72;

/** Every rule, and what is found without one. */
export function listRules(): ListedRule[] {
  return [
    { id: KNOWN_VALUE, of: 'this machine', shape: 'secrets of the environment, .env files and the home folder' },
    { id: KEY_NAME, of: 'any name of a secret', shape: 'PASSWORD=…, "apiKey": "…", --token …' },
    { id: CUT_TOKEN, of: 'any provider', shape: 'ghp_… at the very end of a text' },
    ...Object.entries(RULE_GROUPS).flatMap(([of, rules]) =>
      rules.map((rule) => ({ id: rule.id, of, shape: describeShape(rule) })),
    ),
  ];
}

function describeShape(rule: Rule): string {
  const [example = ''] = rule.examples.hit;
  const prepared = prepareRules([rule]);
  let shape = example;
  createKeywordScanner(prepared.keywords)(example, (keyword, start) => {
    const span = shape === example ? matchRule(prepared.byKeyword[keyword]?.[0] as never, example, start) : undefined;
    if (span === undefined) return;
    const shown = Math.max(span.start, Math.min(span.end, start + (prepared.keywords[keyword] as string).length));
    shape = `${example.slice(0, shown)}…${example.slice(span.end)}`;
  });
  return (shape.split('\n').find((line) => line.includes('…')) ?? '').trim().slice(0, WIDTH);
}
