import { NEWER_EXAMPLES } from './newer-examples.ts';
import { PLATFORM_EXAMPLES } from './platform-examples.ts';
import { SERVICE_EXAMPLES } from './service-examples.ts';

/** What a rule finds, and what it leaves. */
export interface RuleExamples {
  [rule: string]: { hit: readonly string[]; miss: readonly string[] };
}

export const RULE_EXAMPLES: RuleExamples = { ...PLATFORM_EXAMPLES, ...SERVICE_EXAMPLES, ...NEWER_EXAMPLES };
