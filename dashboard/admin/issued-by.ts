import type { Environment } from '../../contract/environment.ts';
import type { Secret } from '../../contract/secret.ts';
import { useEnvironments, useMachineHealth, useSecrets } from '../app/queries.ts';

/** The secrets that a member issued, and their active machines: their own, and unclaimed machines that use such a secret. */
export function useIssuedBy(userId: string): { secrets: Secret[]; machines: Environment[] } {
  const health = useMachineHealth().data;
  const environments = useEnvironments().data ?? [];
  const secrets = (useSecrets().data ?? []).filter(({ createdBy }) => createdBy === userId);
  const ids = new Set(secrets.map(({ secretId }) => secretId));
  const hasSuchSecret = (environmentId: string) =>
    health?.get(environmentId)?.secretIds.some((secretId) => ids.has(secretId)) ?? false;
  const machines = environments.filter(
    (machine) =>
      machine.status === 'active' &&
      (machine.userId === undefined ? hasSuchSecret(machine.environmentId) : machine.userId === userId),
  );
  return { secrets, machines };
}
