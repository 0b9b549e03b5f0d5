import { useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useRef, useState } from 'react';
import type { Session } from '../../../contract/session.ts';
import { useApp } from '../../app.ts';
import { paths } from '../../paths.ts';
import { useSummaries } from '../../queries.ts';
import { failuresOf, locate, type Place } from '../../timeline/rows.ts';
import { useKeys } from '../../ui/use-keys.ts';
import { ErrorNote } from '../error-note.tsx';
import { exportEvents } from './export.ts';
import { FindBar } from './find-bar.tsx';
import { HelpSheet } from './help-sheet.tsx';
import { Inspector } from './inspector.tsx';
import { Outline } from './outline.tsx';
import { SessionHeader } from './session-header.tsx';
import { StripView } from './strip-view.tsx';
import { Timeline, type TimelineHandle } from './timeline.tsx';
import { useArrival, useCurrent } from './use-current.ts';
import { useEventLog } from './use-event-log.ts';
import { useModel } from './use-timeline.ts';
import { useView } from './use-view.ts';

/** A session: header, strip, outline, timeline, and the inspector on demand. */
export function SessionView({ session }: { session: Session }) {
  const { sessionId } = session;
  const { api } = useApp();
  const { e: linked } = useSearch({ from: '/sessions/$sessionId' });
  const log = useEventLog(session, linked);
  const model = useModel(log);
  const { timeline, strip } = model;
  const place = useCurrent(sessionId, linked);
  const { current, select } = place;
  const view = useView(timeline, current);
  const summary = useSummaries(useMemo(() => [sessionId], [sessionId])).data?.get(sessionId);
  const handle = useRef<TimelineHandle>(null);
  const [openedWith] = useState(session.eventCount);
  const [range, setRange] = useState<{ from: number; to: number }>();
  const [panel, setPanel] = useState<'help' | 'find'>();
  const [isInspecting, setInspecting] = useState(false);
  const currentOrder = current === undefined ? undefined : (timeline.orders.get(current) ?? current);

  const onRange = useCallback((from: number, to: number) => {
    setRange((before) => (before?.from === from && before.to === to ? before : { from, to }));
  }, []);

  /** Makes an event the current one, wherever it is folded, and brings it into sight. */
  const goTo = useCallback(
    (sequence: number, found: Place | undefined = locate(timeline.items, sequence, timeline.orders)) => {
      select(sequence);
      if (!found) return;
      view.reveal(found);
      // The row may have to be unfolded first.
      requestAnimationFrame(() => handle.current?.show(found.key, 'center'));
    },
    [timeline, select, view.reveal],
  );

  useArrival(place, linked, timeline.items.length > 0, goTo);

  const step = (by: number) => {
    const at = view.current ? view.rows.indexOf(view.current) : -1;
    const next = view.rows[Math.max(0, Math.min(view.rows.length - 1, at + by))];
    if (!next) return;
    select(next.item.sequence);
    handle.current?.show(next.key, 'auto');
    requestAnimationFrame(() => handle.current?.focusCurrent());
  };
  const stepFailure = (by: 1 | -1) => {
    const failures = failuresOf(timeline.items);
    const from = currentOrder ?? 0;
    const next = by > 0 ? failures.find(({ order }) => order > from) : failures.findLast(({ order }) => order < from);
    if (next) goTo(next.sequence, next);
  };
  /** The current row stays in sight while everything around it opens or closes. */
  const setAll = (open: boolean) => {
    view.setAll(open);
    requestAnimationFrame(() => view.current && handle.current?.show(view.current.key, 'center'));
  };
  const linkOf = (sequence = current) => window.location.origin + paths.session(sessionId, sequence);

  useKeys([
    ['j', () => step(1)],
    ['k', () => step(-1)],
    ['ArrowDown', () => step(1)],
    ['ArrowUp', () => step(-1)],
    ['n', () => stepFailure(1)],
    ['p', () => stepFailure(-1)],
    ['g g', () => step(-view.rows.length)],
    ['G', () => step(view.rows.length)],
    ['o', () => view.current && view.toggle(view.current.item)],
    ['e', () => setAll(true)],
    ['E', () => setAll(false)],
    ['y', () => void navigator.clipboard.writeText(linkOf())],
    ['Enter', () => setInspecting((before) => !before)],
    ['/', () => setPanel('find')],
    ['?', () => setPanel('help')],
    ['Escape', () => (panel ? setPanel(undefined) : setInspecting(false))],
  ]);

  return (
    <div className="session" data-session-plane={session.secretEnvironment}>
      <SessionHeader
        session={session}
        summary={summary}
        timeline={timeline}
        isInspecting={isInspecting}
        linkOf={linkOf}
        onInspect={() => setInspecting((before) => !before)}
        onHelp={() => setPanel('help')}
        onExport={() => void exportEvents(api, sessionId)}
      />
      <StripView strip={strip} range={range} current={current} order={currentOrder} onJump={goTo} />
      {log.error() !== undefined && (
        <div className="p-3">
          <ErrorNote error={log.error()} onRetry={log.retry} />
        </div>
      )}
      <div className="session-body">
        <Outline prompts={timeline.prompts} at={range?.from ?? 0} onSelect={goTo} />
        <div className="relative flex min-h-0 min-w-0 grow flex-col">
          {panel === 'find' && (
            <FindBar
              items={timeline.items}
              isComplete={log.isComplete()}
              onMatch={(match) => goTo(match.sequence, match)}
              onClose={() => setPanel(undefined)}
            />
          )}
          {session.eventCount === 0 && (
            <p className="p-6 text-13 text-muted">No events yet. They appear here as the agent works.</p>
          )}
          <Timeline
            ref={handle}
            view={view}
            sessionId={sessionId}
            eventCount={model.eventCount}
            openedWith={openedWith}
            isLive={session.status === 'active' && log.isComplete()}
            onSelect={select}
            onRange={onRange}
          />
        </div>
        {isInspecting && (
          <Inspector
            item={view.current?.item}
            sessionId={sessionId}
            model={model}
            linkOf={linkOf}
            onClose={() => setInspecting(false)}
          />
        )}
      </div>
      {panel === 'help' && <HelpSheet onClose={() => setPanel(undefined)} />}
    </div>
  );
}
