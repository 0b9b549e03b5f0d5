import { onTestFinished } from 'vitest';
import { createPolicy, type Policy, type PolicyOptions } from '../privacy/policy.ts';
import { openSpool } from '../spool/open.ts';

/** What a person wants captured by the settings in a home, where nothing was decided before. */
export function openTestPolicy(home: string, more: Partial<PolicyOptions> = {}): Policy {
  const { decisions, transact, close } = openSpool(':memory:');
  onTestFinished(close);
  const policy = createPolicy({ home, variables: {}, platform: 'linux', now: Date.now, decisions, transact, ...more });
  policy.refresh();
  return policy;
}
