import { Check, X } from 'lucide-react';
import type { SessionSummary } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import { useNow } from '../ui/time.tsx';

const WORDS = { live: 'Live', open: 'Open', completed: 'Completed', failed: 'Failed' } as const;
const MEANINGS = { ...WORDS, open: 'Open: nothing came for a while, and nobody has ended it' } as const;

/** Heard of within this time an open session is live, as the service's overview has it. */
const LIVE_MS = 15 * 60_000;

/** What a session is at the moment: an agent that is gone leaves it open, which is not to be at work. */
export function stateOf(
  { status, updatedAt }: Session,
  summary: SessionSummary | undefined,
  now: number,
): keyof typeof WORDS {
  if (status !== 'active') return status;
  return now - Date.parse(summary?.lastEventAt ?? updatedAt) < LIVE_MS ? 'live' : 'open';
}

interface Props {
  session: Session;
  summary: SessionSummary | undefined;
  word?: boolean;
}

/** What became of a session: a pulsing dot while it is live. */
export function StatusMark({ session, summary, word }: Props) {
  const state = stateOf(session, summary, useNow());
  const label = word ? { 'aria-hidden': true } : { role: 'img', 'aria-label': WORDS[state] };
  const mark = (
    <span className="inline-flex size-4 flex-none items-center justify-center" title={MEANINGS[state]} {...label}>
      {state === 'live' && <span className="pulse size-2 rounded-full bg-ok" />}
      {state === 'open' && <span className="size-2 rounded-full border border-line-strong" />}
      {state === 'completed' && <Check size={14} className="text-muted" />}
      {state === 'failed' && <X size={14} className="text-bad" />}
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
