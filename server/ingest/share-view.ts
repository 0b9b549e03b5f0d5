import type { ShareLevel } from '../../contract/share.ts';
import type { SessionRow, ShareRow } from '../store/schema.ts';
import { withoutContent, withoutTexts } from '../store/session-columns.ts';
import { outlineOf } from './outline.ts';
import { type ShowPayload, showAll } from './page.ts';

/** What a share shows of its session. Nothing else depends on the level of a share or on its range. */
export interface ShareView {
  /** The first and the last event; `last` is less than `first` if there is none. */
  first: number;
  last: number;
  /** What is shown of an event; absent: events are not shown. */
  show?: ShowPayload;
  /** The session with the texts that are shown. */
  session: SessionRow;
  /** Whether the title is shown. It describes the whole session. */
  hasTitle: boolean;
  /** Whether the figures are shown. They describe the whole session. */
  hasFigures: boolean;
}

interface Level {
  show?: ShowPayload;
  texts: (session: SessionRow) => SessionRow;
}

const LEVELS: Record<ShareLevel, Level> = {
  full: { show: showAll, texts: (session) => session },
  outline: { show: outlineOf, texts: (session) => session },
  figures: { texts: withoutTexts },
};

export function viewOfShare({ level, from_sequence, to_sequence }: ShareRow, session: SessionRow): ShareView {
  const { show, texts } = LEVELS[level];
  const isWhole = from_sequence === null && to_sequence === null;
  return {
    first: from_sequence ?? 1,
    last: Math.min(session.event_count, to_sequence ?? session.event_count),
    ...(show && { show }),
    session: texts(isWhole ? session : withoutContent(session)),
    hasTitle: isWhole && show !== undefined,
    hasFigures: isWhole,
  };
}
