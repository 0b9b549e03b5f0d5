import { useCallback, useDeferredValue, useMemo, useState } from 'react';
import type { SessionFacts } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import { useApp } from '../app/app.ts';
import { useFacts, useSummary } from '../app/queries.ts';
import { useAtNow } from '../kit/time.tsx';
import { stateOf } from '../shared/status-mark.tsx';
import { readOutcome, readOutcomeOfFacts } from './model/outcome.ts';
import { windowInUse } from './model/strip.ts';
import { createTexts } from './model/texts.ts';
import { useEventLog } from './use-event-log.ts';

const NO_MILESTONES: SessionFacts['milestones'] = [];

/** All data of a session: its loaded events, its figures, and everything derived from both. */
export function useSessionData(session: Session) {
  const { sessionId, eventCount } = session;
  const [edition, setEdition] = useState(0);
  const [openedWith] = useState(eventCount);
  const log = useEventLog(session, edition);
  const { timeline, loaded, isComplete } = log;
  const isWhole = loaded >= openedWith;
  const surveyed = useDeferredValue(timeline);
  const isSurveyWhole = useDeferredValue(isWhole);
  const summary = useSummary(sessionId, eventCount).data ?? undefined;
  const facts = useFacts(sessionId, eventCount).data;
  const milestones = facts?.milestones ?? NO_MILESTONES;
  return {
    ...log,
    session,
    sessionId,
    summary,
    facts,
    milestones,
    openedWith,
    /** The timeline has all events of the time of opening. Until then, its sums are those of a part of the session. */
    isWhole,
    /**
     * The timeline for strip and outcome. It is updated in later tasks than the rows, since one task for all takes twice as long.
     */
    surveyed,
    texts: useSessionTexts(sessionId, edition),
    /** Reads all events again, after some have changed. */
    readAgain: useCallback(() => setEdition((before) => before + 1), []),
    isLive: useAtNow((now) => stateOf(session, summary, now) === 'live'),
    /** No event has a time of its own. */
    isUntimed: isComplete && loaded > 0 && !timeline.hasTimes,
    contextWindow: useMemo(() => facts && windowInUse(surveyed, facts), [surveyed, facts]),
    outcome: useMemo(
      () => (isSurveyWhole ? readOutcome(surveyed, facts) : readOutcomeOfFacts(facts)),
      [isSurveyWhole, surveyed, facts],
    ),
  };
}

export type SessionData = ReturnType<typeof useSessionData>;

/** The whole texts of messages, read when they become visible. Texts of an earlier edition are dropped. */
function useSessionTexts(sessionId: string, edition: number) {
  const { api } = useApp();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each edition has its own texts
  return useMemo(
    () =>
      createTexts(async (first, limit) => {
        const query = { from: String(first), limit: String(limit) };
        return (await api.getEventWindow({ sessionId, query })).body.events;
      }),
    [api, sessionId, edition],
  );
}
