import { type ReactNode, Suspense } from 'react';
import { lazyPart } from '../kit/lazy.tsx';
import type { PlotProps } from './plot-area.tsx';

/** 17 KiB with its library. It loads together with the figures, and the page reserves room for it. */
export const PlotArea = lazyPart(() => import('./plot-area.tsx'), 'PlotArea');

const Room = () => (
  <>
    <div className="plot-area" />
    <div className="plot-days" />
  </>
);

/**
 * One figure over time. Each slot is a link, and so is each layer of its bar; arrow keys move between slots.
 * @param sum shown instead of the total
 */
export function TimePlot({ sum, ...props }: PlotProps & { sum?: ReactNode }) {
  const { title, series, format, total, addressOf, range, ghost, isLarge } = props;
  return (
    <figure className="plot" data-large={isLarge || undefined}>
      <figcaption className="flex items-baseline justify-between gap-2 text-13">
        <span className="font-medium">{title}</span>
        <span className="num text-muted">{total === undefined ? '–' : (sum ?? format(total))}</span>
      </figcaption>
      <SeriesNames {...{ title, series, format, addressOf, range }} hasGhost={ghost?.some((value) => value > 0)} />
      <Suspense fallback={<Room />}>
        <PlotArea {...props} />
      </Suspense>
    </figure>
  );
}

interface NamesProps extends Pick<PlotProps, 'title' | 'series' | 'format' | 'addressOf' | 'range'> {
  hasGhost: boolean | undefined;
}

/** The names of the series, if there are several; each links to its sessions. */
function SeriesNames({ title, series, format, addressOf, range, hasGhost }: NamesProps) {
  const isTold = series.length > 1 || series.some(({ filter }) => filter);
  return (
    <ul className="plot-names" aria-label={`${title} by series`}>
      {isTold &&
        series.map((each) => (
          <li key={each.label}>
            <i style={{ background: each.color }} />
            <Name href={each.filter && addressOf(range, each)}>{each.label}</Name>
            <span className="num text-muted">{each.total === undefined ? '' : format(each.total)}</span>
          </li>
        ))}
      {hasGhost && (
        <li>
          <i className="plot-ghost-mark" />
          <span>period before</span>
        </li>
      )}
    </ul>
  );
}

const Name = ({ href, children }: { href: string | undefined; children: ReactNode }) =>
  href === undefined ? <span>{children}</span> : <a href={href}>{children}</a>;
