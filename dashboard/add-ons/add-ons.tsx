import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { AddOnKind } from '../../contract/names.ts';
import type { AddOnsSearch } from '../../contract/pages.ts';
import { usageQuery, useAddOns } from '../app/queries.ts';
import { Page } from '../frame/page.tsx';
import { Choice } from '../kit/choice.tsx';
import { Waiting } from '../kit/notes.tsx';
import { useNow } from '../kit/time.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { RangeChoice } from '../shared/range-choice.tsx';
import { rangeOf } from '../shared/series-slots.ts';
import { AddOnsTable } from './add-ons-table.tsx';

const KINDS: readonly { value: AddOnKind | 'all'; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'mcp', label: 'MCP servers' },
  { value: 'skill', label: 'Skills' },
  { value: 'subagent', label: 'Sub-agents' },
  { value: 'plugin', label: 'Plugins' },
];

/** The MCP servers, skills, sub-agents and plugins that were used in a period, and those that were only offered. */
export function AddOnsPage() {
  const search = useSearch({ from: '/add-ons' });
  const { plane, kind } = search;
  const { from, to } = rangeOf(search, useNow());
  const query = useMemo(() => ({ ...usageQuery(from, to, plane), ...(kind && { kind }) }), [from, to, plane, kind]);
  const { isPending, isError, error, data, refetch } = useAddOns(query);
  const navigate = useNavigate();
  const change = (part: AddOnsSearch) => void navigate({ to: '/add-ons', search: { ...search, ...part } });
  return (
    <Page
      title="Add-ons"
      wide="content"
      actions={<RangeChoice search={search} range={{ from, to }} onChange={change} />}
    >
      <div className="mb-4 overflow-x-auto">
        <Choice
          label="Kind"
          options={KINDS}
          value={kind ?? 'all'}
          onChange={(value) => change({ kind: value === 'all' ? undefined : value })}
        />
      </div>
      {isPending && <Waiting label="Loading add-ons" rows={4} />}
      {isError && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data && <AddOnsTable found={data} plane={plane} />}
    </Page>
  );
}
