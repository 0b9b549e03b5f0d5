import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { paths } from '../../contract/pages.ts';
import type { Session } from '../../contract/session.ts';
import { useNotice } from './notice.tsx';
import type { OutcomeLinks } from './outcome-line.tsx';
import { useSessionPlace, useSessionSearch } from './place.ts';
import { useSessionData } from './session-data.ts';
import { type Panel, useSessionKeys } from './use-session-keys.ts';

/**
 * The state of a session's page: the data of the session, the reader's place in it, the address, and the open panels
 * beside the timeline.
 */
export function useSessionState(session: Session) {
  const { sessionId } = session;
  const search = useSessionSearch(sessionId);
  const { find, lane, view: shownView, change, amend } = search;
  const [notice, tell] = useNotice();
  const data = useSessionData(session);
  const place = useSessionPlace(data, search, tell);
  const [panel, setPanel] = useState<Panel>(find ? 'find' : undefined);
  const [isInspecting, setInspecting] = useState(() => window.innerWidth >= 1600);
  const navigate = useNavigate();
  const leavePanel = () => {
    setPanel(undefined);
    if (find) amend({ find: undefined });
  };
  useSessionKeys({
    reading: place.reading,
    view: place.view,
    walk: place.walk,
    isReading: shownView === undefined,
    panel,
    setPanel,
    setInspecting,
    search: change,
    linkOf: place.linkOf,
    tell,
    compare: () => void navigate({ to: paths.sessions(), search: { compare: sessionId } }),
    leave() {
      if (panel) leavePanel();
      else if (isInspecting) setInspecting(false);
      else if (place.range) place.leaveRange();
      else if (lane !== undefined) place.leaveLane();
      place.focusCurrent();
    },
  });
  const links: OutcomeLinks = {
    onSelect: place.show,
    onChanges: () => change({ view: 'changes' }),
    onFailures: () => change({ view: undefined, show: 'failures' }),
  };
  return { data, place, search, links, notice, panel, setPanel, leavePanel, isInspecting, setInspecting };
}

export type SessionState = ReturnType<typeof useSessionState>;
