import { useMemo } from 'react';
import { formatCount } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import type { Timeline } from './model/build.ts';
import { countShowable, SHOWABLE, type Showable } from './model/rows.ts';
import type { Search } from './use-session-search.ts';

const PLACES = [
  [undefined, 'Timeline'],
  ['story', 'Prompts'],
  ['changes', 'Changes'],
  ['agents', 'Sub-agents'],
] as const;

const KINDS: Record<Showable, string> = {
  prompts: 'Prompts',
  answers: 'Answers',
  edits: 'Edits',
  failures: 'Failures',
  subagents: 'Sub-agents',
  records: 'Records',
};

interface Props {
  search: Search;
  timeline: Timeline;
  /** Name of the sub-agent that alone is shown. */
  lane: string | undefined;
  onLeaveLane: () => void;
  /** As long as not all is there. */
  progress: string | undefined;
}

/** What is read: prompts have a column of their own where there is room for it. Kinds of rows that are on are shown alone. */
export function ViewBar({ search: { view, shown, change }, timeline, lane, onLeaveLane, progress }: Props) {
  const counts = useMemo(() => countShowable(timeline.items), [timeline]);
  const places = PLACES.filter(([place]) => place !== 'agents' || timeline.lanes.length > 0 || view === 'agents');
  const toggle = (kind: Showable) => {
    const kinds = shown.includes(kind) ? shown.filter((each) => each !== kind) : [...shown, kind];
    change({ show: kinds.join(',') || undefined });
  };
  return (
    <div className="timeline-bar">
      <fieldset className="view-tabs">
        <legend className="sr-only">What to read</legend>
        {places.map(([place, name]) => (
          <button
            key={name}
            type="button"
            data-place={place}
            aria-pressed={place === view}
            onClick={() => change({ view: place })}
          >
            {name}
          </button>
        ))}
      </fieldset>
      {!view && (
        <fieldset className="chips kind-chips">
          <legend className="sr-only">What to show</legend>
          {lane !== undefined && (
            <button type="button" className="chip" aria-pressed onClick={onLeaveLane}>
              Only {showHidden(lane)} ✕
            </button>
          )}
          {SHOWABLE.filter((kind) => counts[kind] > 0).map((kind) => (
            <button
              key={kind}
              type="button"
              className="chip"
              data-kind={kind}
              aria-pressed={shown.includes(kind)}
              onClick={() => toggle(kind)}
            >
              {KINDS[kind]} <span className="num text-muted">{formatCount(counts[kind])}</span>
            </button>
          ))}
        </fieldset>
      )}
      {progress && <span className="num text-12 text-muted">{progress}</span>}
    </div>
  );
}
