import { createHash } from 'node:crypto';
import { CONTEXTS, KEYS, NAMED_SECRETS } from './contexts.ts';
import { readRules } from './rule.ts';
import { BUSINESS_TOKENS, CLOUD_TOKENS, CODE_TOKENS, MODEL_TOKENS } from './tokens.ts';

const TABLES = [KEYS, CLOUD_TOKENS, CODE_TOKENS, MODEL_TOKENS, BUSINESS_TOKENS, NAMED_SECRETS, CONTEXTS];

/** In the order in which they are listed. An id may have several lines. */
export const RULES = TABLES.flatMap(readRules);

/** Changes with any rule. */
export const RULES_VERSION = `1-${createHash('sha256').update(TABLES.join()).digest('hex').slice(0, 8)}`;
