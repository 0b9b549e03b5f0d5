import type { Usage } from '../../contract/review.ts';
import { formatCost, formatDuration, formatUtcDay, plural } from '../kit/format.ts';
import { SessionLines } from './session-lines.tsx';

type Reason = Usage['attention'][number]['reason'];

const REASONS: Record<Reason, { title: string; word: (figure: number) => string }> = {
  failures: { title: 'Most failures', word: (count) => `${plural(count, 'failure')}` },
  expensive: { title: 'Most expensive', word: formatCost },
  longest: { title: 'Longest', word: formatDuration },
  interrupted: { title: 'Interrupted', word: (start) => formatUtcDay(start) },
};

/** Sessions that deserve a look, by why. */
export function Attention({ attention }: Pick<Usage, 'attention'>) {
  const reasons = (Object.keys(REASONS) as Reason[]).filter((reason) =>
    attention.some((each) => each.reason === reason),
  );
  if (reasons.length === 0) return undefined;
  return (
    <section aria-labelledby="attention" className="overview-part">
      <h2 id="attention" className="mb-3 text-14">
        Needs a look
      </h2>
      <div className="grid grid-cols-2 gap-x-8 gap-y-5 max-md:grid-cols-1">
        {reasons.map((reason) => (
          <section key={reason} aria-label={REASONS[reason].title} className="min-w-0">
            <h3 className="mb-1 text-12 text-muted">{REASONS[reason].title}</h3>
            <SessionLines
              lines={attention
                .filter((each) => each.reason === reason)
                .map(({ figure, ...each }) => ({ ...each, word: REASONS[reason].word(figure) }))}
            />
          </section>
        ))}
      </div>
    </section>
  );
}
