import type { Environment } from '../../contract/environment.ts';
import type { Member } from '../../contract/organization.ts';
import type { Secret } from '../../contract/secret.ts';
import { useEnvironments, useMachineHealth, useSecrets } from '../app/queries.ts';

/** A session knows no member, only the name of the user on its machine. */
export const personOf = ({ email }: Pick<Member, 'email'>): string => email.split('@')[0] || email;

/** The secrets that somebody issued, and the active machines that belong to those. */
export function useIssuedBy(userId: string): { secrets: Secret[]; machines: Environment[] } {
  const health = useMachineHealth().data;
  const environments = useEnvironments().data ?? [];
  const secrets = (useSecrets().data ?? []).filter(({ createdBy }) => createdBy === userId);
  const ids = new Set(secrets.map(({ secretId }) => secretId));
  const machines = environments.filter(
    ({ environmentId, status }) =>
      status === 'active' && health?.get(environmentId)?.secretIds.some((secretId) => ids.has(secretId)),
  );
  return { secrets, machines };
}
