import { useMemo } from 'react';
import { Choice, Toggle } from '../kit/choice.tsx';
import { formatCount } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import type { Timeline } from './model/build.ts';
import { countShowable, SHOWABLE, type Showable } from './model/rows.ts';
import type { Search } from './place.ts';

const PLACES = [
  { value: undefined, label: 'Timeline' },
  { value: 'story', label: 'Prompts' },
  { value: 'changes', label: 'Changes' },
  { value: 'agents', label: 'Sub-agents' },
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
  /** The name of the only sub-agent that is shown. */
  lane: string | undefined;
  onLeaveLane: () => void;
  /** Shown until all events are loaded. */
  progress: string | undefined;
}

/** Chooses the view and filters rows by kind. On wide screens, prompts have a column of their own instead. */
export function ViewBar({ search: { view, shown, change }, timeline, lane, onLeaveLane, progress }: Props) {
  const counts = useMemo(() => countShowable(timeline.items), [timeline]);
  const places = PLACES.filter(({ value }) => value !== 'agents' || timeline.lanes.length > 0 || view === 'agents');
  const toggle = (kind: Showable) => {
    const kinds = shown.includes(kind) ? shown.filter((each) => each !== kind) : [...shown, kind];
    change({ show: kinds.join(',') || undefined });
  };
  return (
    <div className="flex min-h-10 flex-none flex-wrap items-center gap-x-4 border-b border-line px-4 max-sm:flex-nowrap max-sm:overflow-x-auto max-sm:[scrollbar-width:none] min-[1200px]:[&_[data-value=story]]:hidden print:hidden">
      <Choice
        label="What to read"
        look="tabs"
        options={places}
        value={view}
        onChange={(place) => change({ view: place })}
      />
      {/* The toggles stay in one line, since toggles that wrap would take room from the timeline. */}
      {!view && (
        <fieldset
          className="ml-auto flex min-w-0 flex-initial gap-1 overflow-x-auto py-1.5 [scrollbar-width:none] max-sm:flex-none"
          aria-label="What to show"
        >
          {lane !== undefined && (
            <Toggle isOn onToggle={onLeaveLane}>
              <span className="inline-block max-w-64 truncate align-bottom">Only {showHidden(lane)}</span> ✕
            </Toggle>
          )}
          {SHOWABLE.filter((kind) => counts[kind] > 0).map((kind) => (
            <Toggle key={kind} isOn={shown.includes(kind)} onToggle={() => toggle(kind)}>
              {KINDS[kind]} <span className="num text-muted">{formatCount(counts[kind])}</span>
            </Toggle>
          ))}
        </fieldset>
      )}
      {progress && <span className="num text-12 text-muted">{progress}</span>}
    </div>
  );
}
