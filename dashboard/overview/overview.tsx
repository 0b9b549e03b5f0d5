import './overview.css';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { type FrameSearch, type OverviewSearch, paths } from '../../contract/pages.ts';
import type { Usage } from '../../contract/review.ts';
import { keys, usageQuery, useMachineHealth, useUsage } from '../app/queries.ts';
import { useLinks } from '../app/use-links.ts';
import { Page } from '../frame/page.tsx';
import { hrefOf } from '../kit/base-path.ts';
import { formatCost, formatDuration, plural } from '../kit/format.ts';
import { Waiting } from '../kit/notes.tsx';
import { useNow } from '../kit/time.tsx';
import { CompletenessLine } from '../shared/completeness-line.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { NoSessions } from '../shared/no-sessions.tsx';
import { RangeChoice } from '../shared/range-choice.tsx';
import { addDays, rangeOf } from '../shared/series-slots.ts';
import { Machines } from './machines.tsx';
import { Multiples } from './multiples.tsx';
import { daysIn, Sentence } from './sentence.tsx';
import { SessionLines } from './session-lines.tsx';
import { PlotArea } from './time-plot.tsx';
import { Tools } from './tools.tsx';
import { useLiveUsage } from './use-live-usage.ts';
import { WeekHours } from './week-hours.tsx';

/** The service returns at most this many running sessions. */
const MAX_RUNNING = 20;

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
        <div
          onClick={onClick}
          className="flex flex-col gap-8 [:where(&_section_a:hover)]:underline [:where(&_section_a:hover)]:underline-offset-2"
        >
          <Sentence
            usage={data}
            range={{ from, to }}
            before={before.data?.total}
            isWaiting={before.isPending}
            isCatchingUp={data.catchingUp === true}
          />
          <Completeness />
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

/** The sessions that run at this moment. */
function Running({ running, plane }: Pick<Usage, 'running'> & Pick<FrameSearch, 'plane'>) {
  const now = useNow();
  return (
    <section aria-labelledby="running">
      <h2 id="running" className="mb-1 text-14">
        Running now
        {running.length > 0 && (
          <span className="font-normal text-muted">
            {' '}
            · {running.length}
            {running.length >= MAX_RUNNING && ' or more'}
          </span>
        )}
      </h2>
      {running.length === 0 && <p className="text-13 text-muted">No agent is working.</p>}
      <SessionLines
        lines={running.map(({ session, summary }) => ({
          session,
          summary,
          tags: [{ text: formatDuration(Math.max(0, now - Date.parse(session.startedAt))) }],
        }))}
      />
      {running.length >= MAX_RUNNING && (
        <a href={hrefOf(paths.sessions({ q: 'status:active', plane }))} className="link mt-2 inline-block text-13">
          All active sessions
        </a>
      )}
    </section>
  );
}

type Attention = Usage['attention'][number];

const REASONS: Record<Attention['reason'], (figure: number) => string> = {
  failures: (count) => plural(count, 'failure'),
  expensive: formatCost,
  longest: formatDuration,
  interrupted: () => 'interrupted',
};

/** Sessions that need a look, each once with all its reasons. Sessions with the most reasons come first. */
function NeedsLook({ attention }: Pick<Usage, 'attention'>) {
  if (attention.length === 0) return undefined;
  const bySession = Map.groupBy(attention, ({ session }) => session.sessionId);
  const lines = [...bySession.values()]
    .toSorted((one, other) => other.length - one.length)
    .map((reasons) => ({
      ...(reasons[0] as Attention),
      tags: reasons.map(({ reason, figure }) => ({ text: REASONS[reason](figure), isBad: reason === 'failures' })),
    }));
  return (
    <section aria-labelledby="attention" className="min-w-0">
      <h2 id="attention" className="mb-1 text-14">
        Needs a look
      </h2>
      <SessionLines lines={lines} />
    </section>
  );
}

/** One line on all transcripts of the organization. The page Machines has the list behind it. */
function Completeness() {
  const health = useMachineHealth().data;
  if (health === undefined || health.size === 0) return undefined;
  return (
    <a href={hrefOf(paths.environments())} className="-mt-5 block">
      <CompletenessLine machines={[...health.values()]} />
    </a>
  );
}
