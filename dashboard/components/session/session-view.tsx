import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { SessionFacts } from '../../../contract/review.ts';
import type { Session } from '../../../contract/session.ts';
import { useApp } from '../../app.ts';
import { paths } from '../../paths.ts';
import { useFacts, useSummaries } from '../../queries.ts';
import type { SessionSearch } from '../../search.ts';
import { countShowable, SHOWABLE } from '../../timeline/rows.ts';
import { describe } from '../../timeline/subagents.ts';
import { createTexts } from '../../timeline/texts.ts';
import { Boundary } from '../../ui/boundary.tsx';
import { plural } from '../../ui/format.ts';
import { ErrorNote } from '../error-note.tsx';
import { ChangesView } from './changes-view.tsx';
import { FindBar } from './find-bar.tsx';
import { HelpSheet } from './help-sheet.tsx';
import { Inspector } from './inspector.tsx';
import { KindChips } from './kind-chips.tsx';
import { Notice, useNotice } from './notice.tsx';
import { Outline } from './outline.tsx';
import { PlaceChips } from './place-chips.tsx';
import { createReading, ReadingProvider } from './reading.ts';
import { SessionHeader } from './session-header.tsx';
import { StripView } from './strip-view.tsx';
import { SubagentsView } from './subagents-view.tsx';
import { Timeline, type TimelineHandle } from './timeline.tsx';
import { TurnHead } from './turn-head.tsx';
import { useAddress } from './use-current.ts';
import { useEventLog } from './use-event-log.ts';
import { useSessionKeys } from './use-session-keys.ts';
import { TextsProvider } from './use-text.ts';
import { useView } from './use-view.ts';
import { useWalk } from './use-walk.ts';

const NO_MILESTONES: SessionFacts['milestones'] = [];

/** A session: header, strip, outline, timeline, and the inspector on demand. */
export function SessionView({ session }: { session: Session }) {
  const { sessionId } = session;
  const { api } = useApp();
  const navigate = useNavigate();
  const { e: linked, find, from, to, show, lane, view: place } = useSearch({ from: '/sessions/$sessionId' });
  const { timeline, loaded, isComplete, error, retry } = useEventLog(session);
  const [notice, tell] = useNotice();
  const [reading] = useState(createReading);
  const texts = useMemo(
    () =>
      createTexts(async (first, limit) => {
        const query = { from: String(first), limit: String(limit) };
        return (await api.getEventWindow({ sessionId, query })).body.events;
      }),
    [api, sessionId],
  );
  const shown = useMemo(() => SHOWABLE.filter((kind) => show?.split(',').includes(kind)), [show]);
  const counts = useMemo(() => countShowable(timeline.items), [timeline]);
  const view = useView(timeline, { sessionId, shown, lane });
  const summary = useSummaries(useMemo(() => [sessionId], [sessionId])).data?.get(sessionId);
  const facts = useFacts(sessionId, session.eventCount).data;
  const milestones = facts?.milestones ?? NO_MILESTONES;
  const handle = useRef<TimelineHandle>(null);
  const [openedWith] = useState(session.eventCount);
  const [panel, setPanel] = useState<'help' | 'find' | undefined>(find ? 'find' : undefined);
  const [isInspecting, setInspecting] = useState(() => window.innerWidth >= 1600);

  const search = useCallback(
    (change: SessionSearch) => {
      const next = (before: object) => ({ ...before, ...change });
      void navigate({ to: '/sessions/$sessionId', params: { sessionId }, search: next, replace: true });
    },
    [navigate, sessionId],
  );
  const unhide = useCallback(
    ({ key, parents }: { key: string; parents: readonly string[] }) => {
      const isRecord = [key, ...parents].some((each) => each.startsWith('q'));
      const hasKinds = shown.some((kind) => kind !== 'records');
      if (isRecord && (hasKinds || shown.length === 0)) search({ show: 'records', lane: undefined });
      else if (hasKinds || lane !== undefined) search({ show: undefined, lane: undefined });
      if (hasKinds || lane !== undefined) tell('All rows are shown again: the one you go to was not among the chosen.');
    },
    [shown, lane, search, tell],
  );
  const walk = useWalk({ timeline, view, reading, handle, unhide });
  const { choose, goTo } = walk;
  // A range is gone to by whoever was led to it, not by whoever marks it.
  const opened = linked ?? (reading.current.get() === undefined ? from : undefined);
  useAddress(reading, sessionId, opened, loaded >= (opened ?? 0) || (isComplete && loaded > 0), goTo);

  const isBeyond = isComplete && loaded > 0 && Math.max(opened ?? 0, from ?? 0) > loaded;
  useEffect(() => {
    if (isBeyond) tell(`This link leads past the end: the session has ${plural(loaded, 'event')}.`);
  }, [isBeyond, loaded, tell]);

  const hasRange = from !== undefined && to !== undefined && !(isComplete && from > loaded);
  const range = useMemo(() => (hasRange ? { from, to } : undefined), [hasRange, from, to]);
  useEffect(() => reading.range.set(range), [reading, range]);
  const chooseRange = useCallback((first: number, last: number) => search({ from: first, to: last }), [search]);
  const leaveRange = useCallback(() => search({ from: undefined, to: undefined }), [search]);

  const leavePlace = (sequence: number) => {
    search({ view: undefined });
    goTo(sequence);
  };
  /** To the call that started the sub-agent, in the lane of whoever made it. */
  const laneItem = timeline.lanes.find((each) => each.lane === lane);
  const leaveLane = () => {
    search({ lane: laneItem?.starter?.call?.lane });
    if (laneItem) goTo(laneItem.starter?.sequence ?? laneItem.sequence);
  };
  const linkOf = (sequence = reading.current.get()?.sequence) =>
    window.location.origin + paths.session(sessionId, sequence, range);

  const leavePanel = () => {
    setPanel(undefined);
    if (find) search({ find: undefined });
  };
  const focusCurrent = () => {
    const current = reading.current.get();
    if (current) handle.current?.show(current.key, 'auto', true);
  };

  useSessionKeys({
    ...{ reading, view, walk, timeline, panel, setPanel, setInspecting, search, linkOf, tell },
    leave: () => {
      if (panel) leavePanel();
      else if (isInspecting) setInspecting(false);
      else if (range) leaveRange();
      else if (lane !== undefined) leaveLane();
      focusCurrent();
    },
  });

  return (
    <ReadingProvider value={reading}>
      <TextsProvider value={texts}>
        <div className="session" data-complete={isComplete}>
          {!place && (
            <a href="#timeline" className="skip-link">
              Skip to the timeline
            </a>
          )}
          <SessionHeader
            session={session}
            summary={summary}
            facts={facts}
            timeline={timeline}
            isInspecting={isInspecting}
            linkOf={linkOf}
            onInspect={() => setInspecting((before) => !before)}
            onHelp={() => setPanel('help')}
          />
          <Boundary of="The strip" resetKey={loaded}>
            <StripView
              timeline={timeline}
              range={range}
              contextWindow={facts?.contextWindow}
              onJump={goTo}
              onRange={chooseRange}
            />
          </Boundary>
          {error !== undefined && (
            <div className="p-3">
              <ErrorNote error={error} onRetry={retry} />
            </div>
          )}
          <div className="session-body">
            <Outline turns={timeline.turns} milestones={milestones} onSelect={goTo} />
            <div className="relative flex min-h-0 min-w-0 grow flex-col">
              {panel === 'find' && (
                <FindBar
                  sessionId={sessionId}
                  linked={{ words: find ?? '', sequence: linked }}
                  hasRecords={shown.includes('records')}
                  onShowRecords={() => search({ show: [...shown, 'records'].join(',') })}
                  loaded={loaded}
                  onMatch={(sequence) => goTo(sequence, false, true)}
                  onClose={() => {
                    leavePanel();
                    focusCurrent();
                  }}
                />
              )}
              <div className="timeline-bar">
                <PlaceChips
                  place={place}
                  hasSubagents={timeline.lanes.length > 0}
                  onChange={(next) => search({ view: next })}
                />
                <span aria-hidden className="bar-gap" />
                {!place && (
                  <KindChips
                    counts={counts}
                    shown={shown}
                    lane={laneItem && describe(laneItem).name}
                    onChange={(kinds) => search({ show: kinds.join(',') || undefined })}
                    onLeaveLane={leaveLane}
                  />
                )}
                {range && (
                  <button type="button" className="chip" aria-pressed onClick={leaveRange}>
                    Events {range.from} to {range.to} ✕
                  </button>
                )}
                {!isComplete && session.eventCount > 0 && (
                  <span className="num text-12 text-muted">
                    {loaded} of {session.eventCount} events
                  </span>
                )}
              </div>
              {place === 'story' && <Outline turns={timeline.turns} milestones={milestones} onSelect={leavePlace} />}
              {place === 'changes' && (
                <Boundary of="What was changed" resetKey={loaded}>
                  <ChangesView
                    timeline={timeline}
                    sessionId={sessionId}
                    folder={facts?.folder ?? timeline.meta.cwd}
                    onSelect={leavePlace}
                  />
                </Boundary>
              )}
              {place === 'agents' && (
                <Boundary of="The tree of sub-agents" resetKey={loaded}>
                  <SubagentsView
                    lanes={timeline.lanes}
                    usage={facts?.usage}
                    onSelect={leavePlace}
                    onEnter={(entered) => search({ view: undefined, lane: entered })}
                  />
                </Boundary>
              )}
              {!place && (
                <div className="relative flex min-h-0 grow flex-col">
                  <TurnHead turns={timeline.turns} usage={facts?.usage} onSelect={goTo} />
                  {session.eventCount === 0 && (
                    <p className="p-6 text-13 text-muted">No events yet. They appear here as the agent works.</p>
                  )}
                  {isComplete && counts.records > 0 && shown.length === 0 && view.rows.length === 0 && (
                    <p className="p-6 text-13 text-muted">
                      Nothing was said or done here: there are only records of the agent's own.{' '}
                      <button type="button" className="link" onClick={() => search({ show: 'records' })}>
                        Show {plural(counts.records, 'record')}
                      </button>
                    </p>
                  )}
                  <Timeline
                    ref={handle}
                    view={view}
                    sessionId={sessionId}
                    eventCount={loaded}
                    openedWith={openedWith}
                    isLive={session.status === 'active' && isComplete}
                    onSelect={(row, extend) => {
                      const before = reading.current.get();
                      choose(row);
                      if (!extend || !before) return;
                      const [first, last] = [before.sequence, row.item.sequence].sort((a, b) => a - b);
                      search({ e: row.item.sequence, from: first, to: last });
                    }}
                  />
                </div>
              )}
              <Notice words={notice} />
            </div>
            {isInspecting && (
              <Inspector
                view={view}
                sessionId={sessionId}
                timeline={timeline}
                facts={facts}
                linkOf={linkOf}
                onClose={() => {
                  setInspecting(false);
                  focusCurrent();
                }}
              />
            )}
          </div>
          {panel === 'help' && <HelpSheet onClose={() => setPanel(undefined)} />}
        </div>
      </TextsProvider>
    </ReadingProvider>
  );
}
