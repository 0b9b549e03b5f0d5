import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { keys, usageQuery, useUsage } from '../app/queries.ts';
import type { OverviewSearch } from '../app/search.ts';
import { useLinks } from '../app/use-links.ts';
import { Page } from '../frame/page.tsx';
import { Waiting } from '../kit/notes.tsx';
import { useNow } from '../kit/time.tsx';
import { NoSessions } from '../sessions/no-sessions.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { RangeChoice } from '../shared/range-choice.tsx';
import { addDays, rangeOf } from '../shared/series-slots.ts';
import { NeedsLook } from './attention.tsx';
import { Machines } from './machines.tsx';
import { Multiples } from './multiples.tsx';
import { Running } from './running.tsx';
import { daysIn, Sentence } from './sentence.tsx';
import { PlotArea } from './time-plot.tsx';
import { Tools } from './tools.tsx';
import { useLiveUsage } from './use-live-usage.ts';
import { WeekHours } from './week-hours.tsx';

/** The sessions that run now, and the figures of a period. */
export function OverviewPage() {
  const search = useSearch({ from: '/' });
  const { plane } = search;
  const { from, to } = rangeOf(search, useNow());
  const query = useMemo(() => usageQuery(from, to, plane), [from, to, plane]);
  const usage = useUsage(query);
  const before = useUsage(
    useMemo(() => usageQuery(addDays(from, -daysIn({ from, to })), addDays(from, -1), plane), [from, to, plane]),
  );
  useLiveUsage(useMemo(() => keys.usage(query), [query]));
  // After the first paint, while the figures load.
  useEffect(() => void PlotArea.preload(), []);
  const navigate = useNavigate();
  const change = (part: OverviewSearch) => void navigate({ to: '/', search: { ...search, ...part } });
  const onClick = useLinks();
  const { data } = usage;
  const isEmpty = data && data.total.sessions === 0 && data.running.length === 0 && !search.from;

  return (
    <Page
      title="Overview"
      wide="content"
      actions={<RangeChoice search={search} range={{ from, to }} onChange={change} />}
    >
      {usage.isPending && <Waiting label="Loading figures" />}
      {usage.isError && <ErrorNote error={usage.error} onRetry={() => void usage.refetch()} />}
      {isEmpty && <NoSessions plane={plane} />}
      {data && !isEmpty && (
        // biome-ignore lint/a11y: the click targets a link inside, which Enter activates as well
        <div onClick={onClick} className="flex flex-col gap-8">
          <Sentence
            range={{ from, to }}
            total={data.total}
            before={before.data?.total}
            isWaiting={before.isPending}
            isCatchingUp={data.catchingUp === true}
          />
          <Running running={data.running} plane={plane} />
          <Multiples
            usage={data}
            before={before.isPlaceholderData ? undefined : before.data}
            plane={plane}
            dimension={search.by ?? 'agent'}
            onDimension={(by) => change({ by: by === 'agent' ? undefined : by })}
          />
          <NeedsLook attention={data.attention} />
          <div className="grid grid-cols-2 gap-x-8 gap-y-8 max-lg:grid-cols-1">
            <WeekHours usage={data} plane={plane} />
            <Tools usage={data} plane={plane} />
          </div>
          <Machines plane={plane} />
        </div>
      )}
    </Page>
  );
}
