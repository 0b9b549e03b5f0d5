import { useMemo } from 'react';
import { type Dimension, NOBODY } from '../../contract/names.ts';
import type { Usage } from '../../contract/review.ts';
import type { Field } from '../../contract/written-query.ts';
import { useEnvironments } from '../app/queries.ts';
import { showHidden } from '../kit/text/controls.ts';
import { agentColor, agentName } from './agent-name.tsx';
import { useNameOf } from './person-name.tsx';
import { useRepositoryName } from './repository-name.tsx';

export const FIELD_OF: Record<Dimension, Field> = {
  agent: 'agent',
  model: 'model',
  repository: 'repo',
  environment: 'machine',
  person: 'person',
};

export type Group = Usage['groups'][number];

/** Names of machines, by id. */
export function useMachineNames(): ReadonlyMap<string, string> {
  const environments = useEnvironments().data;
  return useMemo(
    () =>
      new Map(
        environments?.map(({ environmentId, displayName, hostname }) => [
          environmentId,
          showHidden(displayName ?? hostname),
        ]),
      ),
    [environments],
  );
}

/** Names and colours of the groups of a dimension. */
export function useNames() {
  const machines = useMachineNames();
  const nameOfPerson = useNameOf();
  const nameOfRepository = useRepositoryName();
  return useMemo(
    () => ({
      nameOf({ dimension, value }: Group): string {
        if (value === '') return 'others';
        if (dimension === 'agent') return agentName(value);
        if (dimension === 'environment') return machines.get(value) ?? value;
        if (dimension === 'person') return value === NOBODY ? 'No member' : nameOfPerson(value);
        return dimension === 'repository' ? nameOfRepository(value) : showHidden(value);
      },
      colorOf: ({ dimension, value }: Group, place: number): string =>
        dimension === 'agent' ? agentColor(value) : `var(--plot-${place + 1})`,
    }),
    [machines, nameOfPerson, nameOfRepository],
  );
}
