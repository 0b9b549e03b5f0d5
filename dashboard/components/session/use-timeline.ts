import { useDeferredValue, useMemo } from 'react';
import { readRevisions } from '../../../contract/entry/revisions.ts';
import { settleTimes } from '../../../contract/entry/times.ts';
import { buildTimeline, type Timeline } from '../../timeline/build.ts';
import type { EventLog } from '../../timeline/event-log.ts';
import { buildStrip, type Strip } from '../../timeline/strip.ts';

/** Slices of the overview strip. */
const SLICES = 180;

export interface Model {
  timeline: Timeline;
  strip: Strip;
  eventCount: number;
}

/** What the page shows, made anew when events arrive, after what the person is doing. */
export function useModel(log: EventLog): Model {
  const entries = useDeferredValue(log.entries());
  return useMemo(() => {
    const settled = settleTimes(entries);
    const revisions = readRevisions(settled);
    return {
      timeline: buildTimeline(settled, revisions),
      strip: buildStrip(settled, SLICES, revisions),
      eventCount: entries.length,
    };
  }, [entries]);
}
