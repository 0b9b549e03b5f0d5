import { onTestFinished } from 'vitest';
import { createPolicy, type Policy, type PolicyOptions } from '../privacy/policy.ts';
import { openSpool } from '../spool/open.ts';

/** The capture policy of the settings in a home, without earlier decisions. */
export function openTestPolicy(home: string, more: Partial<PolicyOptions> = {}): Policy {
  const { decisions, transact, close } = openSpool(':memory:');
  onTestFinished(close);
  const policy = createPolicy({ home, variables: {}, platform: 'linux', now: Date.now, decisions, transact, ...more });
  policy.refresh();
  return policy;
}
