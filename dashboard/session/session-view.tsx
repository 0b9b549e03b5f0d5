import '../session.css';
import { EyeOff } from 'lucide-react';
import { Suspense, useRef, useState } from 'react';
import { ServiceError } from '../../contract/client.ts';
import type { Session } from '../../contract/session.ts';
import { Boundary } from '../kit/boundary.tsx';
import { useCommands } from '../kit/commands.ts';
import { lazyPart } from '../kit/lazy.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { FactsAlone } from './facts-alone.tsx';
import { FindBar } from './find-bar.tsx';
import { PersonContext } from './message-row.tsx';
import { nameLane } from './model/subagents.ts';
import { NothingShown } from './nothing-shown.tsx';
import { Notice } from './notice.tsx';
import { OutcomeLine } from './outcome-line.tsx';
import { Outline } from './outline.tsx';
import { ReadingProvider } from './reading.ts';
import { Elapsed, SessionHeader } from './session-header.tsx';
import { type SessionState, useSessionState } from './session-state.ts';
import { StripView } from './strip-view.tsx';
import { Timeline } from './timeline.tsx';
import { TurnHead } from './turn-head.tsx';
import { useHeaderAway } from './use-header-away.ts';
import { useSelectedText } from './use-selected-text.ts';
import { TextsProvider } from './use-text.ts';
import { ViewBar } from './view-bar.tsx';

// Loaded on demand, so that the timeline does not wait for them.
const Inspector = lazyPart(() => import('./inspector.tsx'), 'Inspector');
const ChangesView = lazyPart(() => import('./changes-view.tsx'), 'ChangesView');
const SubagentsView = lazyPart(() => import('./subagents-view.tsx'), 'SubagentsView');
const HelpSheet = lazyPart(() => import('./help-sheet.tsx'), 'HelpSheet');
const MaskDialog = lazyPart(() => import('./mask-dialog.tsx'), 'MaskDialog');

/** A session: header, strip, outline, timeline, and the inspector on demand. */
export function SessionView({ session }: { session: Session }) {
  const state = useSessionState(session);
  const { data, place, search, links, panel, setPanel, isInspecting, setInspecting } = state;
  const { timeline, surveyed, loaded, isComplete, error, retry, summary, facts, milestones, outcome, isUntimed } = data;
  const { reading, view, range, linkOf } = place;
  const isWithheld = error instanceof ServiceError && error.code === 'words_withheld';
  const page = useRef<HTMLDivElement>(null);
  const selectedText = useSelectedText(page);
  useHeaderAway(page, reading, view.rows[0]?.item.order ?? Number.POSITIVE_INFINITY);
  return (
    <ReadingProvider value={reading}>
      <TextsProvider value={data.texts}>
        <PersonContext value={summary?.person}>
          <div ref={page} className="session" data-complete={isComplete} data-untimed={isUntimed || undefined}>
            {!search.view && (
              <a href="#timeline" className="skip-link">
                Skip to the timeline
              </a>
            )}
            <SessionHeader
              {...{ session, summary, facts, timeline, outcome, isInspecting, linkOf, ...links }}
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
            <div className="session-body">
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
            <p className="session-print">
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
        </PersonContext>
      </TextsProvider>
    </ReadingProvider>
  );
}

/** The chosen view, below the bars for searching and for choosing another view. */
function Middle({ state: { data, place, search, notice, panel, setPanel, leavePanel } }: { state: SessionState }) {
  const { session, sessionId, timeline, loaded, isComplete, facts, milestones, isLive } = data;
  const { view, shown, find, change } = search;
  const { eventCount } = session;
  const [openedWith] = useState(eventCount);
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
      {view === 'story' && <Outline turns={timeline.turns} milestones={milestones} onSelect={place.show} />}
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
              onSelect={place.show}
              onEnter={(entered) => change({ view: undefined, lane: entered })}
            />
          </Suspense>
        </Boundary>
      )}
      {!view && (
        <div className="relative flex min-h-0 grow flex-col">
          <TurnHead turns={timeline.turns} usage={facts?.usage} onSelect={place.jump} />
          {isComplete && place.view.rows.length === 0 && <NothingShown {...{ search, timeline, eventCount }} />}
          <Timeline
            ref={place.handle}
            {...{ view: place.view, sessionId, openedWith, hasRange: place.range !== undefined }}
            eventCount={loaded}
            isActive={isComplete && session.status === 'active'}
            isLive={isComplete && isLive}
            onSelect={place.select}
          />
        </div>
      )}
      <Notice words={notice} />
    </div>
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
