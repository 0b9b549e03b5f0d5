import type { CSSProperties, KeyboardEvent } from 'react';
import type { FrameSearch } from '../../contract/pages.ts';
import type { Usage } from '../../contract/review.ts';
import { hourOfWeek } from '../../contract/written-query.ts';
import { hrefOf } from '../kit/base-path.ts';
import { formatCount } from '../kit/format.ts';
import { sessionsOf } from './series.ts';

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

/** The hours that each arrow key moves by. */
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -24, ArrowDown: 24 };

/**
 * Prompts and calls by hour of the week in UTC, as a table. A cell is darker the more happened in its hour, and links to the
 * sessions. The table is one stop of the Tab key; arrow keys move in it.
 */
export function WeekHours({ usage, plane }: { usage: Usage; plane: FrameSearch['plane'] }) {
  const { hours } = usage;
  const most = Math.max(1, ...hours);
  const busiest = hours.indexOf(most);
  const move = (event: KeyboardEvent<HTMLTableElement>) => {
    const by = STEPS[event.key];
    const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a')];
    const at = Number((event.target as HTMLElement).dataset.at);
    if (!by || Number.isNaN(at)) return;
    event.preventDefault();
    // The nearest hour with activity in that direction.
    const ahead = links.filter(
      ({ dataset }) => (Number(dataset.at) - at) * by > 0 && (Number(dataset.at) - at) % by === 0,
    );
    ahead.at(by > 0 ? 0 : -1)?.focus();
  };
  return (
    <section aria-labelledby="hours" className="min-w-0">
      <h2 id="hours" className="mb-3 text-14">
        When agents work <span className="font-normal text-muted">· prompts and calls by hour, UTC</span>
      </h2>
      <table className="week-hours num" onKeyDown={move}>
        <thead>
          <tr>
            <td />
            {HOURS.map((hour) => (
              <th key={hour} scope="col">
                <span className={hour % 3 === 0 ? '' : 'sr-only'}>{hour}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {DAYS.map((day, row) => (
            <tr key={day}>
              <th scope="row" abbr={day}>
                {day.slice(0, 3)}
              </th>
              {HOURS.map((hour) => {
                const at = row * 24 + hour;
                const count = hours[at] ?? 0;
                return (
                  <td key={hour} title={`${day} ${hour}:00–${hour + 1}:00 UTC: ${formatCount(count)}`}>
                    {count > 0 && (
                      <a
                        href={hrefOf(sessionsOf(plane, usage, { field: 'hour', value: hourOfWeek(at) }))}
                        data-at={at}
                        tabIndex={at === busiest ? 0 : -1}
                        style={{ '--share': Math.sqrt(count / most) } as CSSProperties}
                      >
                        <span className="sr-only">{formatCount(count)}</span>
                      </a>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
