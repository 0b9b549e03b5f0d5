import { Check, X } from 'lucide-react';
import type { SessionSummary } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import { useNow } from '../kit/time.tsx';
import { hasTimes } from './session-title.ts';

const WORDS = { live: 'Live', quiet: 'Quiet', silent: 'Ended', completed: 'Completed', failed: 'Failed' } as const;
const MEANINGS = {
  ...WORDS,
  quiet: 'Quiet: no end reported, and no event with a time in the last 15 minutes',
  silent: 'Ended without a report: no events for more than a day',
} as const;

export type SessionState = keyof typeof WORDS;

/** A session with an event within this time is live; the service's overview uses the same limit. */
const LIVE_MS = 15 * 60_000;
/** After a silence this long, an agent only continues the session by resuming it. */
const SILENT_MS = 24 * 3_600_000;

/** Most agents never report an end, so an active session is judged by its last event. */
export function stateOf(
  { status, updatedAt }: Session,
  summary: SessionSummary | undefined,
  now: number,
): SessionState {
  if (status !== 'active') return status;
  const silence = now - Date.parse(summary?.lastEventAt ?? updatedAt);
  // Without times, an old transcript that was just imported looks like one that is being written.
  if (silence < LIVE_MS && hasTimes(summary)) return 'live';
  return silence < SILENT_MS ? 'quiet' : 'silent';
}

interface Props {
  session: Session;
  summary: SessionSummary | undefined;
  word?: boolean;
}

/** The state of a session: a pulsing dot while it is live. */
export function StatusMark({ session, summary, word }: Props) {
  const state = stateOf(session, summary, useNow());
  const label = word ? { 'aria-hidden': true } : { role: 'img', 'aria-label': WORDS[state] };
  const mark = (
    <span className="inline-flex size-4 flex-none items-center justify-center" title={MEANINGS[state]} {...label}>
      <Mark state={state} />
    </span>
  );
  if (!word) return mark;
  return (
    <span className="inline-flex items-center gap-1.5">
      {mark}
      {WORDS[state]}
    </span>
  );
}

function Mark({ state }: { state: SessionState }) {
  if (state === 'completed') return <Check size={14} className="text-muted" />;
  if (state === 'failed') return <X size={14} className="text-bad" />;
  if (state === 'live') return <span className="pulse size-2 rounded-full bg-ok" />;
  return <span className={state === 'quiet' ? 'size-2 rounded-full border border-muted' : 'h-px w-2 bg-muted'} />;
}

const STATES: readonly SessionState[] = ['live', 'quiet', 'silent', 'completed', 'failed'];

/** Explains the marks that these sessions have. */
export function StatusLegend({ sessions }: { sessions: readonly Pick<Props, 'session' | 'summary'>[] }) {
  const now = useNow();
  const found = new Set(sessions.map(({ session, summary }) => stateOf(session, summary, now)));
  return (
    <ul aria-label="Marks" className="ml-auto">
      {STATES.filter((state) => found.has(state)).map((state) => (
        <li key={state} className="inline-flex items-center gap-1" title={MEANINGS[state]}>
          <Mark state={state} />
          {WORDS[state]}
        </li>
      ))}
    </ul>
  );
}
