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

/** What the rules tell the secrets of, in the order in which they are listed. */
export const RULE_GROUPS: { readonly [what: string]: readonly Rule[] } = {
  'private keys, signed tokens': KEY_RULES,
  clouds: CLOUD_RULES,
  hosting: HOSTING_RULES,
  'source hosts, builds': SOURCE_HOST_RULES,
  packages: PACKAGE_RULES,
  'model providers': MODEL_PROVIDER_RULES,
  payments: PAYMENT_RULES,
  messaging: MESSAGING_RULES,
  databases: DATABASE_RULES,
  observability: OBSERVABILITY_RULES,
  'work tools': WORK_TOOL_RULES,
  identity: IDENTITY_RULES,
  'addresses, headers, commands': ADDRESS_RULES,
};

export const RULES: readonly Rule[] = Object.values(RULE_GROUPS).flat();

/** Changes with any rule. */
export const RULES_VERSION = nameVersion(RULES);

function nameVersion(rules: readonly Rule[]): string {
  const text = rules.map(({ id, keywords, pattern }) => `${id} ${keywords} ${pattern}`).join('\n');
  return `1-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
}
