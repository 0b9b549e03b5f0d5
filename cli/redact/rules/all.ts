import { createHash } from 'node:crypto';
import { CLOUD_RULES } from './cloud.ts';
import type { Rule } from './rule.ts';

export const RULES: readonly Rule[] = [...CLOUD_RULES];

/** Changes with any rule. */
export const RULES_VERSION = nameVersion(RULES);

function nameVersion(rules: readonly Rule[]): string {
  const text = rules.map(({ id, keywords, pattern }) => `${id} ${keywords} ${pattern}`).join('\n');
  return `1-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
}
