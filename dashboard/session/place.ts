import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { paths, type SessionSearch } from '../../contract/pages.ts';
import { useHistoryEntry } from '../app/history-entry.ts';
import { serviceAddress } from '../kit/base-path.ts';
import { plural } from '../kit/format.ts';
import { lastPlaces } from './last-place.ts';
import { type Place, type Row, SHOWABLE, type Showable } from './model/rows.ts';
import { createReading, type Reading } from './reading.ts';
import type { SessionData } from './session-data.ts';
import type { TimelineHandle } from './use-timeline-rows.ts';
import { useView } from './use-view.ts';
import { useWalk } from './walk.ts';

/** The query string of a session's page, and two functions that change it. */
export interface Search extends SessionSearch {
  shown: readonly Showable[];
  range: { from: number; to: number } | undefined;
  /** For a step of the reader, which Back undoes. */
  change: (change: SessionSearch) => void;
  /** For adjustments that Back skips. */
  amend: (change: SessionSearch) => void;
}

export function useSessionSearch(sessionId: string): Search {
  const search = useSearch({ from: '/sessions/$sessionId' });
  const navigate = useNavigate();
  const { show, from, to } = search;
  const go = useCallback(
    (wanted: SessionSearch, replace: boolean) => {
      const next = (before: object) => ({ ...before, ...wanted });
      void navigate({ to: '/sessions/$sessionId', params: { sessionId }, search: next, replace });
    },
    [navigate, sessionId],
  );
  const change = useCallback((wanted: SessionSearch) => go(wanted, false), [go]);
  const amend = useCallback((wanted: SessionSearch) => go(wanted, true), [go]);
  return {
    ...search,
    shown: useMemo(() => SHOWABLE.filter((kind) => show?.split(',').includes(kind)), [show]),
    range: useMemo(() => (from !== undefined && to !== undefined ? { from, to } : undefined), [from, to]),
    change,
    amend,
  };
}

/** The reader's place in a session, and functions that move to other rows, ranges and sub-agents. */
export function useSessionPlace(data: SessionData, search: Search, tell: (words: string) => void) {
  const { sessionId, timeline, loaded, isComplete } = data;
  const { e: linked, from, lane, shown, change, amend } = search;
  const [reading] = useState(createReading);
  const view = useView(timeline, { sessionId, shown, lane });
  const handle = useRef<TimelineHandle>(null);

  const unhide = useCallback(
    ({ key, parents }: Place) => {
      const isRecord = [key, ...parents].some((each) => each.startsWith('q'));
      const hasKinds = shown.some((kind) => kind !== 'records');
      if (isRecord && (hasKinds || shown.length === 0)) amend({ show: 'records', lane: undefined });
      else if (hasKinds || lane !== undefined) amend({ show: undefined, lane: undefined });
      if (hasKinds || lane !== undefined) tell('All rows are shown again, because the filter hid the row you opened.');
    },
    [shown, lane, amend, tell],
  );
  const walk = useWalk({ timeline, view, reading, handle, unhide });
  const { choose, mark, goTo } = walk;
  const { lastPlace, returnedTo } = useReturn(search, sessionId, tell);
  const arrive = useCallback(
    (sequence: number) => (sequence === returnedTo ? mark(sequence) : goTo(sequence)),
    [returnedTo, mark, goTo],
  );
  // A link to a range leads to its first event. A reader who marks a range stays at their row.
  const opened = linked ?? (reading.current.get() === undefined ? from : undefined);
  useAddress(reading, sessionId, opened, loaded >= (opened ?? 0) || (isComplete && loaded > 0), arrive);

  const isBeyond = isComplete && loaded > 0 && Math.max(opened ?? 0, from ?? 0) > loaded;
  useEffect(() => {
    if (isBeyond) tell(`That event does not exist: this session has ${plural(loaded, 'event')}.`);
  }, [isBeyond, loaded, tell]);

  const range = isComplete && from !== undefined && from > loaded ? undefined : search.range;
  useEffect(() => reading.range.set(range), [reading, range]);
  const hasRange = range !== undefined;
  const chooseRange = useCallback(
    // Each further drag adjusts the range; Back removes it.
    (first: number, last: number) => {
      (hasRange ? amend : change)({ from: first, to: last });
      goTo(first, false);
    },
    [hasRange, amend, change, goTo],
  );
  const laneItem = timeline.lanes.find((each) => each.lane === lane);

  return {
    reading,
    view,
    handle,
    lastPlace,
    walk,
    goTo,
    range,
    chooseRange,
    leaveRange: useCallback(() => change({ from: undefined, to: undefined }), [change]),
    linkOf: (sequence = reading.current.get()?.sequence) =>
      serviceAddress() + paths.session(sessionId, sequence, range),
    /** A jump adds an entry to the browser's history, so that Back returns to the place before it. */
    jump: useCallback(
      (sequence: number) => {
        change({ e: sequence });
        goTo(sequence);
      },
      [goTo, change],
    ),
    /** Leaves another view for an event in the timeline. */
    show(sequence: number) {
      change({ view: undefined, e: sequence });
      goTo(sequence);
    },
    laneItem,
    /** Goes to the call that started the sub-agent, in the lane of that call. */
    leaveLane() {
      change({ lane: laneItem?.starter?.call?.lane });
      if (laneItem) goTo(laneItem.starter?.sequence ?? laneItem.sequence);
    },
    focusCurrent() {
      const current = reading.current.get();
      if (current) handle.current?.show(current.key, 'auto', true);
    },
    select(row: Row, extend: boolean) {
      const before = reading.current.get();
      choose(row);
      if (!extend || !before) return;
      const { sequence } = row.item;
      amend({ e: sequence, from: Math.min(before.sequence, sequence), to: Math.max(before.sequence, sequence) });
    },
  };
}

/**
 * Where the reader stopped in this session. A link leads to its own place, except after a reload and after Back: then the
 * address still names the current row, although the reader may have scrolled away from it.
 */
function useReturn({ e, from, find, view }: Search, sessionId: string, tell: (words: string) => void) {
  const linked = e ?? from;
  const entryOf = useHistoryEntry();
  const [{ place, isBack }] = useState(() => {
    const kept = lastPlaces.read(sessionId);
    const isBack = kept?.entry === entryOf();
    return { place: isBack || (linked ?? find) === undefined ? kept : undefined, isBack };
  });
  const [returnedTo] = useState(isBack ? linked : undefined);
  const [isTold] = useState(place !== undefined && !isBack && view === undefined);
  useEffect(() => {
    if (isTold) tell('You are back where you stopped reading. Press g twice to go to the start.');
  }, [isTold, tell]);
  return { lastPlace: useRef(place), returnedTo };
}

/**
 * Updates the address to the current row after a moment, since browsers limit how often a page may change it. Calls `goTo`
 * if the address changes from outside: by the link that opened the page, or by another link since.
 */
function useAddress(
  { current }: Reading,
  sessionId: string,
  linked: number | undefined,
  isThere: boolean,
  goTo: (sequence: number) => void,
): void {
  const navigate = useNavigate();
  const written = useRef<number>(undefined);
  const followed = useRef<number>(undefined);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const write = () => {
      const sequence = current.get()?.sequence;
      if (sequence === undefined || sequence === written.current) return;
      written.current = sequence;
      const search = (before: object) => ({ ...before, e: sequence });
      void navigate({ to: '/sessions/$sessionId', params: { sessionId }, search, replace: true });
    };
    const stop = current.subscribe(() => {
      clearTimeout(timer);
      timer = setTimeout(write, 250);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [current, navigate, sessionId]);

  useEffect(() => {
    // Until the written address takes effect, the address still has the last event, which was handled already.
    if (linked === undefined || !isThere || followed.current === linked) return;
    followed.current = linked;
    if (written.current === linked) return;
    written.current = linked;
    goTo(linked);
  }, [linked, isThere, goTo]);
}
