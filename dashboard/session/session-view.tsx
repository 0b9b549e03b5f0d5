import './session.css';
import { EyeOff } from 'lucide-react';
import { type RefObject, Suspense, useCallback, useEffect, useMemo, useRef } from 'react';
import { ServiceError } from '../../contract/client.ts';
import type { Session } from '../../contract/session.ts';
import { Boundary } from '../kit/boundary.tsx';
import { useCommands } from '../kit/commands.ts';
import { plural } from '../kit/format.ts';
import { lazyPart } from '../kit/lazy.tsx';
import { SkipLink } from '../kit/skip-link.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { FactsAlone } from './facts-alone.tsx';
import { FindBar } from './find-bar.tsx';
import { PersonContext } from './message-row.tsx';
import type { Timeline as BuiltTimeline } from './model/build.ts';
import { countShowable } from './model/rows.ts';
import { nameLane } from './model/subagents.ts';
import { Notice } from './notice.tsx';
import { OutcomeLine } from './outcome-line.tsx';
import { Outline } from './outline.tsx';
import type { Search } from './place.ts';
import { type Reading, ReadingProvider } from './reading.ts';
import { Elapsed, SessionHeader } from './session-header.tsx';
import { type SessionState, useSessionState } from './session-state.ts';
import { StripView } from './strip-view.tsx';
import { Timeline } from './timeline.tsx';
import { TestRunsContext } from './tool-row.tsx';
import { TurnHead } from './turn-head.tsx';
import { TextsProvider } from './use-text.ts';
import { ViewBar } from './view-bar.tsx';

// Loaded on demand, so that the timeline does not wait for them.
const Inspector = lazyPart(() => import('./inspector.tsx'), 'Inspector');
const ChangesView = lazyPart(() => import('./changes-view.tsx'), 'ChangesView');
const SubagentsView = lazyPart(() => import('./subagents-view.tsx'), 'SubagentsView');
const HelpSheet = lazyPart(() => import('./help-sheet.tsx'), 'HelpSheet');
const MaskDialog = lazyPart(() => import('./mask-dialog.tsx'), 'MaskDialog');

/** The same query as of `low` in `kit/styles/theme.css`. On such screens, the header scrolls out above the timeline. */
const LITTLE_HEIGHT = '(max-height: 700px)';

/** A session: header, strip, outline, timeline, and the inspector on demand. */
export function SessionView({ session }: { session: Session }) {
  const state = useSessionState(session);
  const { data, place, search, links, panel, setPanel, isInspecting, setInspecting } = state;
  const { timeline, surveyed, loaded, isComplete, isWhole, error, retry, summary, facts, milestones, outcome } = data;
  const { isUntimed } = data;
  const { reading, view, range, linkOf } = place;
  const isWithheld = error instanceof ServiceError && error.code === 'content_withheld';
  const page = useRef<HTMLDivElement>(null);
  const selectedText = useSelectedText(page);
  const testRuns = useMemo(
    () => new Map(milestones.flatMap(({ sequence, passed }) => (passed === undefined ? [] : [[sequence, passed]]))),
    [milestones],
  );
  useHeaderAway(page, reading, view.rows[0]?.item.order ?? Number.POSITIVE_INFINITY);
  return (
    <ReadingProvider value={reading}>
      <TextsProvider value={data.texts}>
        <PersonContext value={summary?.userId}>
          <TestRunsContext value={testRuns}>
            <div
              ref={page}
              className="flex h-full flex-col text-13 low:overflow-y-auto low:*:flex-none"
              data-complete={isComplete}
              data-untimed={isUntimed || undefined}
            >
              {!search.view && <SkipLink to="#timeline">Skip to the timeline</SkipLink>}
              <SessionHeader
                {...{ session, summary, facts, timeline, isWhole, outcome, isInspecting, linkOf, ...links }}
                onInspect={() => setInspecting((before) => !before)}
                onHelp={() => setPanel('help')}
                onMask={isWithheld ? undefined : () => setPanel('mask')}
              />
              {!isUntimed && !isWithheld && (
                <Boundary of="The strip" resetKey={loaded}>
                  <StripView
                    {...{ range, milestones, contextWindow: data.contextWindow }}
                    timeline={surveyed}
                    onJump={place.goTo}
                    onRange={place.chooseRange}
                    onWhole={place.leaveRange}
                  />
                </Boundary>
              )}
              {error !== undefined && !isWithheld && (
                <div className="p-3">
                  <ErrorNote error={error} onRetry={retry} />
                </div>
              )}
              <div
                className="flex min-h-0 flex-1 border-line border-t low:h-[calc(100%-var(--strip-stays,0px))] max-[1200px]:relative"
                data-part="body"
              >
                {isWithheld && <FactsAlone facts={facts} />}
                {!isWithheld && search.view !== 'changes' && (
                  <Outline turns={timeline.turns} milestones={milestones} onSelect={place.jump} />
                )}
                {!isWithheld && <Middle state={state} />}
                {isInspecting && (
                  <Boundary of="The inspector" resetKey={loaded}>
                    <Suspense>
                      <Side state={state} />
                    </Suspense>
                  </Boundary>
                )}
              </div>
              <p className="hidden px-5 py-2 text-muted print:block">
                Only the rows in sight are printed. To print the whole session, choose Print… from its Download menu.
              </p>
              <Suspense>
                {panel === 'help' && <HelpSheet onClose={() => setPanel(undefined)} />}
                {panel === 'mask' && (
                  <MaskDialog
                    sessionId={session.sessionId}
                    selected={selectedText()}
                    onMasked={data.readAgain}
                    onClose={state.leavePanel}
                  />
                )}
              </Suspense>
            </div>
          </TestRunsContext>
        </PersonContext>
      </TextsProvider>
    </ReadingProvider>
  );
}

/** On low screens, scrolls the header away once the reader is below the first row, to make room for the rows. */
function useHeaderAway(page: RefObject<HTMLElement | null>, { seen }: Reading, first: number): void {
  useEffect(() => {
    const little = window.matchMedia(LITTLE_HEIGHT);
    const follow = () => {
      if (!little.matches || !page.current) return;
      page.current.scrollTop = seen.get().from > first ? page.current.scrollHeight : 0;
    };
    follow();
    little.addEventListener('change', follow);
    const stop = seen.subscribe(follow);
    return () => {
      little.removeEventListener('change', follow);
      stop();
    };
  }, [page, seen, first]);
}

/**
 * @returns the text selected last in a part of the page. A menu or the palette clears the selection when it opens, so the
 * text is kept until the person selects another text or clicks in the session.
 */
function useSelectedText(part: RefObject<HTMLElement | null>): () => string {
  const latest = useRef('');
  useEffect(() => {
    const note = () => {
      const selection = document.getSelection();
      const at = selection?.anchorNode;
      const place = at instanceof Element ? at : at?.parentElement;
      if (!selection || !place || !part.current?.contains(place) || place.closest('dialog')) return;
      const text = selection.toString().trim();
      if (text !== '' || place.closest('[data-part="body"]')) latest.current = text;
    };
    document.addEventListener('selectionchange', note);
    return () => document.removeEventListener('selectionchange', note);
  }, [part]);
  return useCallback(() => latest.current, []);
}

/** The chosen view, below the bars for searching and for choosing another view. */
function Middle({ state: { data, place, search, notice, panel, setPanel, leavePanel } }: { state: SessionState }) {
  const { session, sessionId, timeline, loaded, isComplete, facts, milestones, isLive, openedWith } = data;
  const { view, shown, find, change } = search;
  const { eventCount } = session;
  useCommands([{ label: 'Mask a text', icon: EyeOff, does: () => setPanel('mask') }]);
  return (
    <div className="relative flex min-h-0 min-w-0 grow flex-col">
      {panel === 'find' && (
        <FindBar
          sessionId={sessionId}
          linked={{ words: find ?? '', sequence: search.e }}
          hasRecords={shown.includes('records')}
          onShowRecords={() => change({ show: [...shown, 'records'].join(',') })}
          loaded={loaded}
          onMatch={(sequence) => place.goTo(sequence, false, true)}
          onClose={() => {
            leavePanel();
            place.focusCurrent();
          }}
        />
      )}
      <ViewBar
        {...{ search, timeline }}
        lane={place.laneItem && nameLane(place.laneItem)}
        onLeaveLane={place.leaveLane}
        progress={isComplete || eventCount === 0 ? undefined : `${loaded} of ${eventCount} events`}
      />
      {view === 'story' && <Outline fills turns={timeline.turns} milestones={milestones} onSelect={place.show} />}
      {view === 'changes' && (
        <Boundary of="The list of changes" resetKey={loaded}>
          <Suspense>
            <ChangesView
              {...{ timeline, sessionId }}
              folder={facts?.folder ?? timeline.meta.cwd}
              onSelect={place.show}
            />
          </Suspense>
        </Boundary>
      )}
      {view === 'agents' && (
        <Boundary of="The tree of sub-agents" resetKey={loaded}>
          <Suspense>
            <SubagentsView
              lanes={timeline.lanes}
              isLive={isLive}
              usage={facts?.usage}
              pricesOf={facts?.pricesOf}
              onSelect={place.show}
              onEnter={(entered) => change({ view: undefined, lane: entered })}
            />
          </Suspense>
        </Boundary>
      )}
      {!view && (
        <div className="relative flex min-h-0 grow flex-col">
          <TurnHead turns={timeline.turns} usage={facts?.usage} pricesOf={facts?.pricesOf} onSelect={place.jump} />
          {isComplete && place.view.rows.length === 0 && <NothingShown {...{ search, timeline, eventCount }} />}
          <Timeline
            ref={place.handle}
            {...{ view: place.view, sessionId, openedWith, hasRange: place.range !== undefined }}
            eventCount={loaded}
            isActive={isComplete && session.status === 'active'}
            isLive={isComplete && isLive}
            place={place.lastPlace}
            isComplete={isComplete}
            onSelect={place.select}
          />
        </div>
      )}
      <Notice words={notice} />
    </div>
  );
}

interface NothingProps {
  search: Search;
  timeline: BuiltTimeline;
  eventCount: number;
}

/** Explains why a session has no rows, and what to do about it. */
function NothingShown({ search: { shown, change }, timeline, eventCount }: NothingProps) {
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

/** Details of the current row, or of the session if no row is selected. */
function Side({ state: { data, place, links, setInspecting } }: { state: SessionState }) {
  const { session, sessionId, timeline, facts, summary, outcome, isLive } = data;
  return (
    <Inspector
      {...{ view: place.view, sessionId, timeline, facts, linkOf: place.linkOf }}
      outcome={
        <OutcomeLine
          {...{ outcome, isLive, ...links }}
          summary={facts?.summary ?? summary}
          elapsed={<Elapsed session={session} summary={summary} />}
        />
      }
      onClose={() => {
        setInspecting(false);
        place.focusCurrent();
      }}
    />
  );
}
