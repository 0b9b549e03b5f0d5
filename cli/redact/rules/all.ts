import { createHash } from 'node:crypto';
import { ADDRESS_RULES } from './addresses.ts';
import { CLOUD_RULES } from './cloud.ts';
import { DATABASE_RULES } from './databases.ts';
import { HOSTING_RULES } from './hosting.ts';
import { IDENTITY_RULES } from './identity.ts';
import { KEY_RULES } from './keys-and-certificates.ts';
import { MESSAGING_RULES } from './messaging.ts';
import { MODEL_PROVIDER_RULES } from './model-providers.ts';
import { OBSERVABILITY_RULES } from './observability.ts';
import { PACKAGE_RULES } from './packages.ts';
import { PAYMENT_RULES } from './payments.ts';
import type { Rule } from './rule.ts';
import { SOURCE_HOST_RULES } from './source-hosts.ts';
import { WORK_TOOL_RULES } from './work-tools.ts';

export const RULES: readonly Rule[] = [
  ...KEY_RULES,
  ...CLOUD_RULES,
  ...HOSTING_RULES,
  ...SOURCE_HOST_RULES,
  ...PACKAGE_RULES,
  ...MODEL_PROVIDER_RULES,
  ...PAYMENT_RULES,
  ...MESSAGING_RULES,
  ...DATABASE_RULES,
  ...OBSERVABILITY_RULES,
  ...WORK_TOOL_RULES,
  ...IDENTITY_RULES,
  ...ADDRESS_RULES,
];

/** Changes with any rule. */
export const RULES_VERSION = nameVersion(RULES);

function nameVersion(rules: readonly Rule[]): string {
  const text = rules.map(({ id, keywords, pattern }) => `${id} ${keywords} ${pattern}`).join('\n');
  return `1-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
}
