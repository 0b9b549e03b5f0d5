import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Waiting } from '../kit/notes.tsx';
import { Scroll } from '../kit/scroll.tsx';
import { ErrorNote } from './error-note.tsx';

interface Props<Resource> {
  /** What they are, such as `Secrets`. */
  name: string;
  query: UseQueryResult<Resource[]>;
  /** In place of the table while there are none. */
  empty?: ReactNode;
  heads: readonly string[];
  /** A line of the table, with what can be done in its last cell. */
  children: (resource: Resource) => ReactNode;
}

/** A table of what the organization has; before it, that it is on its way, or why it did not come. */
export function ResourceTable<Resource>({
  name,
  query: { isPending, error, data, refetch },
  empty,
  heads,
  children,
}: Props<Resource>) {
  return (
    <>
      {isPending && <Waiting label={`Loading ${name.toLowerCase()}`} rows={4} />}
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && empty}
      {data && data.length > 0 && (
        <Scroll className="overflow-x-auto" aria-label={name}>
          <table className="table table-lines">
            <thead>
              <tr>
                {heads.map((head) => (
                  <th key={head}>{head}</th>
                ))}
                <th>
                  <span className="sr-only">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>{data.map(children)}</tbody>
          </table>
        </Scroll>
      )}
    </>
  );
}
