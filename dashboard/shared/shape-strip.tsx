import { memo } from 'react';
import type { SessionSummary } from '../../contract/review.ts';

const HEIGHT = 16;
/** Height under the bars for marks of failures. */
const FAILURES = 3;

/** The activity of a session over time: a bar for each slice, and a red tick where something failed. */
export const ShapeStrip = memo(function ShapeStrip({ shape }: { shape: SessionSummary['shape'] }) {
  if (!shape?.length) return <span className="shape-strip" />;
  const most = Math.max(1, ...shape.map(([work]) => work));
  return (
    <svg className="shape-strip" viewBox={`0 0 ${shape.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
      <path className="shape-strip-work" d={shape.map(([work], x) => bar(x, work / most)).join('')} />
      <path
        className="shape-strip-failed"
        d={shape
          .map(([, failures], x) => (failures > 0 ? box(x, HEIGHT - FAILURES + 0.5, FAILURES - 0.5) : ''))
          .join('')}
      />
    </svg>
  );
});

/** The height grows with the square root, so that one busy moment does not flatten the rest. */
function bar(x: number, part: number): string {
  if (part === 0) return '';
  const height = 1.5 + (HEIGHT - FAILURES - 1.5) * Math.sqrt(part);
  return box(x, HEIGHT - FAILURES - height, height);
}

const box = (x: number, y: number, height: number) => `M${x} ${y.toFixed(2)}h0.8v${height.toFixed(2)}h-0.8z`;
