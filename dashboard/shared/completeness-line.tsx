import type { MachineHealth } from '../../contract/environment.ts';
import { formatCount, plural } from '../kit/format.ts';
import { useNow } from '../kit/time.tsx';
import { sumCoverage, wordMissing } from './completeness.ts';

const MEANING =
  'Seen: all transcripts that capture has met. Kept back: left out by a rule, by a person, or because nobody agreed to send earlier sessions.';

/** One line for the organization: how many transcripts are where, and whether anything is missing. */
export function CompletenessLine({ machines }: { machines: readonly MachineHealth[] }) {
  const now = useNow();
  const sum = sumCoverage(machines);
  const missing = wordMissing(machines, now);
  return (
    <p className="text-13 text-muted">
      {sum && (
        <span className="num" title={`${MEANING} Reported by ${plural(sum.machines, 'machine')}.`}>
          <strong className="text-text">{plural(sum.seen, 'transcript')} seen</strong>: {formatCount(sum.captured)}{' '}
          captured, {formatCount(sum.keptBack)} kept back
          {sum.waiting > 0 && `, ${formatCount(sum.waiting)} waiting`},{' '}
          <span className={sum.notRead > 0 ? 'text-warn' : undefined}>{formatCount(sum.notRead)} not read</span>
          {'. '}
        </span>
      )}
      <span>
        Is anything missing? <span className={missing.isWrong ? 'text-warn' : undefined}>{missing.text}</span>.
      </span>
    </p>
  );
}
