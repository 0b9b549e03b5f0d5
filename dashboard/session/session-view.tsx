import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { SessionFacts } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import { useApp } from '../app/app.ts';
import { paths } from '../app/paths.ts';
import { useFacts, useSummary } from '../app/queries.ts';
import { Boundary } from '../kit/boundary.tsx';
import { plural } from '../kit/format.ts';
import { useAtNow } from '../kit/time.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { stateOf } from '../shared/status-mark.tsx';
import { ChangesView } from './changes-view.tsx';
import { FindBar } from './find-bar.tsx';
import { HelpSheet } from './help-sheet.tsx';
import { Inspector } from './inspector.tsx';
import { PersonContext } from './message-row.tsx';
import { readOutcome } from './model/outcome.ts';
import type { Place, Row } from './model/rows.ts';
import { windowInUse } from './model/strip.ts';
import { describe } from './model/subagents.ts';
import { createTexts } from './model/texts.ts';
import { NothingShown } from './nothing-shown.tsx';
import { Notice, useNotice } from './notice.tsx';
import { OutcomeLine, type OutcomeLinks } from './outcome-line.tsx';
import { Outline } from './outline.tsx';
import { createReading, ReadingProvider } from './reading.ts';
import { Elapsed, SessionHeader } from './session-header.tsx';
import { StripView } from './strip-view.tsx';
import { SubagentsView } from './subagents-view.tsx';
import { Timeline, type TimelineHandle } from './timeline.tsx';
import { TurnHead } from './turn-head.tsx';
import { useAddress } from './use-current.ts';
import { useEventLog } from './use-event-log.ts';
import { useHeaderAway } from './use-header-away.ts';
import { useSessionKeys } from './use-session-keys.ts';
import { useSessionSearch } from './use-session-search.ts';
import { TextsProvider } from './use-text.ts';
import { useView } from './use-view.ts';
import { useWalk } from './use-walk.ts';
import { ViewBar } from './view-bar.tsx';

const NO_MILESTONES: SessionFacts['milestones'] = [];

/** A session: header, strip, outline, timeline, and the inspector on demand. */
export function SessionView({ session }: { session: Session }) {
  const { sessionId, eventCount } = session;
  const search = useSessionSearch(sessionId);
  const { e: linked, find, from, lane, view: place, shown, change, amend } = search;
  const { timeline, loaded, isComplete, error, retry } = useEventLog(session);
  const [notice, tell] = useNotice();
  const navigate = useNavigate();
  const [reading] = useState(createReading);
  const texts = useSessionTexts(sessionId);
  const view = useView(timeline, { sessionId, shown, lane });
  const summary = useSummary(sessionId, eventCount).data ?? undefined;
  const facts = useFacts(sessionId, eventCount).data;
  const isLive = useAtNow((now) => stateOf(session, summary, now) === 'live');
  const handle = useRef<TimelineHandle>(null);
  const page = useRef<HTMLDivElement>(null);
  useHeaderAway(page, reading, view.rows[0]?.item.order ?? Number.POSITIVE_INFINITY);
  const [openedWith] = useState(eventCount);
  const [panel, setPanel] = useState<'help' | 'find' | undefined>(find ? 'find' : undefined);
  const [isInspecting, setInspecting] = useState(() => window.innerWidth >= 1600);

  const unhide = useCallback(
    ({ key, parents }: Place) => {
      const isRecord = [key, ...parents].some((each) => each.startsWith('q'));
      const hasKinds = shown.some((kind) => kind !== 'records');
      if (isRecord && (hasKinds || shown.length === 0)) amend({ show: 'records', lane: undefined });
      else if (hasKinds || lane !== undefined) amend({ show: undefined, lane: undefined });
      if (hasKinds || lane !== undefined) tell('All rows are shown again: the one you go to was not among the chosen.');
    },
    [shown, lane, amend, tell],
  );
  const walk = useWalk({ timeline, view, reading, handle, unhide });
  const { choose, goTo } = walk;
  // A range is gone to by whoever was led to it, not by whoever marks it.
  const opened = linked ?? (reading.current.get() === undefined ? from : undefined);
  useAddress(reading, sessionId, opened, loaded >= (opened ?? 0) || (isComplete && loaded > 0), goTo);

  const isBeyond = isComplete && loaded > 0 && Math.max(opened ?? 0, from ?? 0) > loaded;
  useEffect(() => {
    if (isBeyond) tell(`That event does not exist: this session has ${plural(loaded, 'event')}.`);
  }, [isBeyond, loaded, tell]);

  const range = isComplete && from !== undefined && from > loaded ? undefined : search.range;
  useEffect(() => reading.range.set(range), [reading, range]);
  const hasRange = range !== undefined;
  const chooseRange = useCallback(
    // Each further drag adjusts the range; Back takes it away.
    (first: number, last: number) => {
      (hasRange ? amend : change)({ from: first, to: last });
      goTo(first, false);
    },
    [hasRange, amend, change, goTo],
  );
  const leaveRange = useCallback(() => change({ from: undefined, to: undefined }), [change]);
  const linkOf = (sequence = reading.current.get()?.sequence) =>
    window.location.origin + paths.session(sessionId, sequence, range);

  /** A jump is a place in the browser's history: Back returns to the place before it. */
  const jump = useCallback(
    (sequence: number) => {
      change({ e: sequence });
      goTo(sequence);
    },
    [goTo, change],
  );
  const leavePlace = (sequence: number) => {
    change({ view: undefined, e: sequence });
    goTo(sequence);
  };
  const laneItem = timeline.lanes.find((each) => each.lane === lane);
  /** To the call that started the sub-agent, in the lane of whoever made it. */
  const leaveLane = () => {
    change({ lane: laneItem?.starter?.call?.lane });
    if (laneItem) goTo(laneItem.starter?.sequence ?? laneItem.sequence);
  };
  const leavePanel = () => {
    setPanel(undefined);
    if (find) amend({ find: undefined });
  };
  const focusCurrent = () => {
    const current = reading.current.get();
    if (current) handle.current?.show(current.key, 'auto', true);
  };

  const select = (row: Row, extend: boolean) => {
    const before = reading.current.get();
    choose(row);
    if (!extend || !before) return;
    const { sequence } = row.item;
    amend({
      e: sequence,
      from: Math.min(before.sequence, sequence),
      to: Math.max(before.sequence, sequence),
    });
  };

  useSessionKeys({
    ...{
      reading,
      view,
      walk,
      timeline,
      isReading: place === undefined,
      panel,
      setPanel,
      setInspecting,
      search: change,
      linkOf,
      tell,
    },
    compare: () => void navigate({ to: paths.sessions(), search: { compare: sessionId } }),
    leave: () => {
      if (panel) leavePanel();
      else if (isInspecting) setInspecting(false);
      else if (range) leaveRange();
      else if (lane !== undefined) leaveLane();
      focusCurrent();
    },
  });

  const contextWindow = useMemo(() => facts && windowInUse(timeline, facts), [timeline, facts]);
  const isUntimed = isComplete && loaded > 0 && !timeline.hasTimes;
  const milestones = facts?.milestones ?? NO_MILESTONES;
  const outcome = useMemo(() => readOutcome(timeline, milestones, facts?.usage), [timeline, milestones, facts]);
  const links: OutcomeLinks = {
    onSelect: leavePlace,
    onChanges: () => change({ view: 'changes' }),
    onFailures: () => change({ view: undefined, show: 'failures' }),
  };
  const story = { turns: timeline.turns, milestones };
  return (
    <ReadingProvider value={reading}>
      <TextsProvider value={texts}>
        <PersonContext value={summary?.person}>
          <div ref={page} className="session" data-complete={isComplete} data-untimed={isUntimed || undefined}>
            {!place && (
              <a href="#timeline" className="skip-link">
                Skip to the timeline
              </a>
            )}
            <SessionHeader
              {...{ session, summary, facts, timeline, outcome, isInspecting, linkOf, ...links }}
              onInspect={() => setInspecting((before) => !before)}
              onHelp={() => setPanel('help')}
            />
            {!isUntimed && (
              <Boundary of="The strip" resetKey={loaded}>
                <StripView
                  {...{ timeline, range, contextWindow, milestones }}
                  onJump={goTo}
                  onRange={chooseRange}
                  onWhole={leaveRange}
                />
              </Boundary>
            )}
            {error !== undefined && (
              <div className="p-3">
                <ErrorNote error={error} onRetry={retry} />
              </div>
            )}
            <div className="session-body">
              {place !== 'changes' && <Outline {...story} onSelect={jump} />}
              <div className="relative flex min-h-0 min-w-0 grow flex-col">
                {panel === 'find' && (
                  <FindBar
                    sessionId={sessionId}
                    linked={{ words: find ?? '', sequence: linked }}
                    hasRecords={shown.includes('records')}
                    onShowRecords={() => change({ show: [...shown, 'records'].join(',') })}
                    loaded={loaded}
                    onMatch={(sequence) => goTo(sequence, false, true)}
                    onClose={() => {
                      leavePanel();
                      focusCurrent();
                    }}
                  />
                )}
                <ViewBar
                  {...{ search, timeline }}
                  lane={laneItem && describe(laneItem).name}
                  onLeaveLane={leaveLane}
                  progress={isComplete || eventCount === 0 ? undefined : `${loaded} of ${eventCount} events`}
                />
                {place === 'story' && <Outline {...story} onSelect={leavePlace} />}
                {place === 'changes' && (
                  <Boundary of="What was changed" resetKey={loaded}>
                    <ChangesView
                      {...{ timeline, sessionId }}
                      folder={facts?.folder ?? timeline.meta.cwd}
                      onSelect={leavePlace}
                    />
                  </Boundary>
                )}
                {place === 'agents' && (
                  <Boundary of="The tree of sub-agents" resetKey={loaded}>
                    <SubagentsView
                      lanes={timeline.lanes}
                      isLive={isLive}
                      usage={facts?.usage}
                      onSelect={leavePlace}
                      onEnter={(entered) => change({ view: undefined, lane: entered })}
                    />
                  </Boundary>
                )}
                {!place && (
                  <div className="relative flex min-h-0 grow flex-col">
                    <TurnHead turns={timeline.turns} usage={facts?.usage} onSelect={jump} />
                    {isComplete && view.rows.length === 0 && <NothingShown {...{ search, timeline, eventCount }} />}
                    <Timeline
                      ref={handle}
                      {...{ view, sessionId, openedWith, hasRange }}
                      eventCount={loaded}
                      isActive={isComplete && session.status === 'active'}
                      isLive={isComplete && isLive}
                      onSelect={select}
                    />
                  </div>
                )}
                <Notice words={notice} />
              </div>
              {isInspecting && (
                <Inspector
                  {...{ view, sessionId, timeline, facts, linkOf }}
                  outcome={
                    <OutcomeLine
                      {...{ outcome, isLive, ...links }}
                      summary={facts?.summary ?? summary}
                      elapsed={<Elapsed session={session} summary={summary} />}
                    />
                  }
                  onClose={() => {
                    setInspecting(false);
                    focusCurrent();
                  }}
                />
              )}
            </div>
            <p className="session-print">
              Only the rows in sight are printed. To print the whole session, choose Print… from its Download menu.
            </p>
            {panel === 'help' && <HelpSheet onClose={() => setPanel(undefined)} />}
          </div>
        </PersonContext>
      </TextsProvider>
    </ReadingProvider>
  );
}

/** The whole texts of messages, read as they come into sight. */
function useSessionTexts(sessionId: string) {
  const { api } = useApp();
  return useMemo(
    () =>
      createTexts(async (first, limit) => {
        const query = { from: String(first), limit: String(limit) };
        return (await api.getEventWindow({ sessionId, query })).body.events;
      }),
    [api, sessionId],
  );
}
