import type { UseQueryResult } from '@tanstack/react-query';
import type { ComponentProps, ReactNode } from 'react';
import { Page } from '../frame/page.tsx';
import { Waiting } from '../kit/notes.tsx';
import { Table } from '../kit/table.tsx';
import { ErrorNote } from '../shared/error-note.tsx';

interface Props<Resource>
  extends Pick<ComponentProps<typeof Page>, 'title' | 'context' | 'actions'>,
    Omit<ComponentProps<typeof Table<Resource>>, 'rows' | 'name'> {
  /** What they are, where the title says something else. */
  name?: string;
  query: UseQueryResult<Resource[]>;
  /** In place of the table while there are none. */
  empty?: ReactNode;
  /** Why something that was done here failed. */
  failed?: unknown;
  /** Below the table: dialogs, and what else belongs to the resources. */
  children?: ReactNode;
}

/** A page about what the organization has: a table; before it, that it is loading, or why it could not be read. */
export function ResourcePage<Resource>(props: Props<Resource>) {
  const { title, context, actions, name = title, query, empty, failed, children, ...table } = props;
  const { isPending, error, data, refetch } = query;
  return (
    <Page title={title} context={context} actions={actions}>
      <div className="flex flex-col gap-4">
        {failed ? <ErrorNote error={failed} /> : null}
        {isPending && <Waiting label={`Loading ${name.toLowerCase()}`} rows={4} />}
        {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {data?.length === 0 && empty}
        {data && data.length > 0 && <Table {...table} name={name} rows={data} />}
      </div>
      {children}
    </Page>
  );
}
