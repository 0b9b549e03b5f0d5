import { Check, X } from 'lucide-react';
import type { Session } from '../../contract/session.ts';

const WORDS = { active: 'Live', completed: 'Completed', failed: 'Failed' } as const;

/** What became of a session: a pulsing dot while it is live. */
export function StatusMark({ status, word }: { status: Session['status']; word?: boolean }) {
  return (
    <span className="inline-flex items-center gap-1.5" title={WORDS[status]}>
      <span className="inline-flex size-4 flex-none items-center justify-center">
        {status === 'active' && <span className="pulse size-2 rounded-full bg-ok" />}
        {status === 'completed' && <Check size={14} className="text-muted" aria-hidden />}
        {status === 'failed' && <X size={14} className="text-bad" aria-hidden />}
      </span>
      <span className={word ? '' : 'sr-only'}>{WORDS[status]}</span>
    </span>
  );
}
