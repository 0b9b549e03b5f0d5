import type { Usage } from '../../contract/review.ts';
import { formatCost, formatDuration, plural } from '../kit/format.ts';
import { SessionLines } from './session-lines.tsx';

type Attention = Usage['attention'][number];

const REASONS: Record<Attention['reason'], (figure: number) => string> = {
  failures: (count) => plural(count, 'failure'),
  expensive: formatCost,
  longest: formatDuration,
  interrupted: () => 'interrupted',
};

/** Sessions that need a look, each once with all its reasons. Sessions with the most reasons come first. */
export function NeedsLook({ attention }: Pick<Usage, 'attention'>) {
  if (attention.length === 0) return undefined;
  const bySession = Map.groupBy(attention, ({ session }) => session.sessionId);
  const lines = [...bySession.values()]
    .toSorted((one, other) => other.length - one.length)
    .map((reasons) => ({
      ...(reasons[0] as Attention),
      tags: reasons.map(({ reason, figure }) => ({ text: REASONS[reason](figure), isBad: reason === 'failures' })),
    }));
  return (
    <section aria-labelledby="attention" className="overview-part min-w-0">
      <h2 id="attention" className="mb-1 text-14">
        Needs a look
      </h2>
      <SessionLines lines={lines} />
    </section>
  );
}
