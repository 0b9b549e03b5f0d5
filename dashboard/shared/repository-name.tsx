import { useMemo } from 'react';
import { useRepositories } from '../app/queries.ts';
import { showHidden } from '../kit/text/controls.ts';
import { repositoryName } from './session-title.ts';

/** Names repositories in short. Those that share their short name are named in full. */
export function useRepositoryName(): (repository: string) => string {
  const { data: repositories } = useRepositories();
  return useMemo(() => {
    const known = (repositories ?? []).map(({ repository }) => repository);
    const byName = Map.groupBy(new Set(known), repositoryName);
    return (repository) => {
      const name = repositoryName(repository);
      const isShared = byName.get(name)?.some((other) => other !== repository) ?? false;
      return isShared ? showHidden(repository) : name;
    };
  }, [repositories]);
}

/** The known repositories as suggestions for an input with this list. */
export function RepositoryList({ id }: { id: string }) {
  const { data: repositories = [] } = useRepositories();
  return (
    <datalist id={id}>
      {repositories.map(({ repository }) => (
        <option key={repository} value={repository} />
      ))}
    </datalist>
  );
}
