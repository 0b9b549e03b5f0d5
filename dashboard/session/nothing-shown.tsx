import { plural } from '../kit/format.ts';
import type { Timeline } from './model/build.ts';
import { countShowable } from './model/rows.ts';
import type { Search } from './use-session-search.ts';

interface Props {
  search: Search;
  timeline: Timeline;
  eventCount: number;
}

/** Explains why a session has no rows, and what to do about it. */
export function NothingShown({ search: { shown, change }, timeline, eventCount }: Props) {
  if (eventCount === 0) {
    return <p className="p-6 text-13 text-muted">No events yet. They appear here as the agent works.</p>;
  }
  const { records } = countShowable(timeline.items);
  if (records === 0 || shown.length > 0) return null;
  return (
    <p className="p-6 text-13 text-muted">
      This session has no prompts, answers or calls, only the agent's own records.{' '}
      <button type="button" className="link" onClick={() => change({ show: 'records' })}>
        Show {plural(records, 'record')}
      </button>
    </p>
  );
}
