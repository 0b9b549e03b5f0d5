import { useMemo } from 'react';
import { NOBODY } from '../../contract/names.ts';
import { namesOf } from '../../contract/person-name.ts';
import type { Usage } from '../../contract/review.ts';
import type { Field } from '../../contract/written-query.ts';
import {
  type SessionRow,
  type SessionSearch,
  usageQuery,
  useEnvironments,
  useInstallations,
  useMembers,
  useRepositories,
  useSecrets,
  useUsage,
} from '../app/queries.ts';
import { agentName } from '../shared/agent-name.tsx';
import { FIELD_OF } from '../shared/group-names.ts';
import { useRepositoryName } from '../shared/repository-name.tsx';
import { nameOfSecret } from '../shared/secret-name.ts';
import { addDays, dayOf } from '../shared/series-slots.ts';
import type { KnownValues } from './suggestions.ts';

const DAYS = 90;

/**
 * Values for filters, from the figures of the last months and from the list.
 * @param isWanted false until the person needs them, since the figures are read for nothing else
 */
export function useKnownValues(
  rows: readonly SessionRow[],
  plane: SessionSearch['plane'],
  isWanted: boolean,
): KnownValues {
  const environments = useEnvironments().data;
  const installations = useInstallations().data;
  const secrets = useSecrets().data;
  const members = useMembers().data;
  const repositories = useRepositories().data;
  const nameOfRepository = useRepositoryName();
  const today = dayOf(Date.now());
  const usage = useUsage(usageQuery(addDays(today, 1 - DAYS), today, plane), isWanted).data;
  return useMemo(() => {
    const named = groupValues(usage);
    const names = members && namesOf(members);
    const branches = new Set(rows.flatMap(({ summary }) => summary.gitBranch ?? []));
    const agents = new Set([...(named.agent ?? []), ...(installations ?? []).map(({ agentId }) => agentId)]);
    const countOf = (field: Field, value: string) => {
      const count: number | undefined = usage?.groups.find(
        (group) => FIELD_OF[group.dimension] === field && group.value === value,
      )?.sessions;
      return { ...(count !== undefined && { count }) };
    };
    return {
      agent: [...agents].map((value) => ({ value, label: agentName(value), ...countOf('agent', value) })),
      repo: (repositories ?? []).map(({ repository }) => ({
        value: repository,
        label: nameOfRepository(repository),
        ...countOf('repo', repository),
      })),
      branch: [...branches].map((value) => ({ value })),
      model: (named.model ?? []).map((value) => ({ value })),
      person: [
        ...(members ?? [])
          .filter(({ status }) => status === 'active')
          .map(({ userId, email }) => ({
            value: userId,
            label: names?.get(userId) ?? email,
            words: email,
            ...countOf('person', userId),
          })),
        { value: NOBODY, label: 'No member', ...countOf('person', NOBODY) },
      ].toSorted((one, other) => (other.count ?? 0) - (one.count ?? 0)),
      tool: (usage?.tools ?? []).filter(({ name }) => name !== '').map(({ name }) => ({ value: name })),
      machine: (environments ?? [])
        .map(({ environmentId, displayName, hostname }) => ({
          value: environmentId,
          label: displayName ?? hostname,
          ...countOf('machine', environmentId),
        }))
        .sort((one, other) => (other.count ?? 0) - (one.count ?? 0)),
      secret: (secrets ?? []).map((secret) => ({ value: secret.secretId, label: nameOfSecret(secret) })),
    };
  }, [environments, installations, secrets, members, repositories, nameOfRepository, usage, rows]);
}

function groupValues(usage: Usage | undefined) {
  const values: Partial<Record<string, string[]>> = {};
  for (const { dimension, value } of usage?.groups ?? []) {
    const field = FIELD_OF[dimension];
    if (value !== '') values[field] = [...(values[field] ?? []), value];
  }
  return values;
}
