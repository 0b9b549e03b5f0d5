import type { UseQueryResult } from '@tanstack/react-query';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { Page } from '../frame/page.tsx';
import { formatCount } from '../kit/format.ts';
import { Waiting } from '../kit/notes.tsx';
import { FIRST_ROWS, Table } from '../kit/table.tsx';
import { ErrorNote } from '../shared/error-note.tsx';

interface Props<Resource>
  extends Pick<ComponentProps<typeof Page>, 'title' | 'context' | 'actions'>,
    Omit<ComponentProps<typeof Table<Resource>>, 'rows' | 'name'> {
  /** The words that the search field matches. */
  wordsOf: (resource: Resource) => string;
  /** The name of the table, if it differs from the title. */
  name?: string;
  query: UseQueryResult<Resource[]>;
  /** Shown in place of the table if there are no resources. */
  empty?: ReactNode;
  /** The error of the last action on this page. */
  failed?: unknown;
  /** Repeats that action. */
  onRetry?: (() => void) | undefined;
  /** Shown above the table. */
  above?: ReactNode;
  /** Shown below the table, such as dialogs. */
  children?: ReactNode;
}

/** A page with a table of the organization's resources. Until they are read, it shows that they load or the error. */
export function ResourcePage<Resource>(props: Props<Resource>) {
  const {
    title,
    context,
    actions,
    name = title,
    query,
    empty,
    failed,
    onRetry,
    above,
    children,
    wordsOf,
    ...table
  } = props;
  const { isPending, error, data, refetch } = query;
  const [wanted, setWanted] = useState('');
  const letters = wanted.trim().toLowerCase();
  const isMany = data !== undefined && data.length > FIRST_ROWS;
  const found = isMany && letters ? data.filter((each) => wordsOf(each).toLowerCase().includes(letters)) : data;
  return (
    <Page title={title} context={context} actions={actions}>
      <div className="flex flex-col gap-4">
        {failed ? <ErrorNote error={failed} {...(onRetry && { onRetry })} /> : null}
        {isPending && <Waiting label={`Loading ${name.toLowerCase()}`} rows={4} />}
        {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {data?.length === 0 && empty}
        {data && data.length > 0 && above}
        {isMany && (
          <input
            type="search"
            className="field w-64 max-w-full"
            aria-label={`Find among ${name.toLowerCase()}`}
            placeholder={`Find among ${formatCount(data.length)}`}
            value={wanted}
            onChange={({ target }) => setWanted(target.value)}
          />
        )}
        {found && found.length > 0 && <Table key={letters} {...table} name={name} rows={found} />}
        {isMany && found?.length === 0 && <p className="text-13 text-muted">No matches.</p>}
      </div>
      {children}
    </Page>
  );
}
