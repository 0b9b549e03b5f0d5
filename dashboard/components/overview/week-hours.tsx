import { formatCount } from '../../ui/format.ts';

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

/** Prompts and calls by hour of the week: a table, of which each cell is as dark as much as happened then. */
export function WeekHours({ hours }: { hours: readonly number[] }) {
  const most = Math.max(1, ...hours);
  return (
    <section aria-labelledby="hours" className="overview-part min-w-0">
      <h2 id="hours" className="mb-3 text-14">
        When agents work <span className="font-normal text-muted">· prompts and calls by hour, UTC</span>
      </h2>
      <table className="week-hours num">
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
                const count = hours[row * 24 + hour] ?? 0;
                return (
                  <td key={hour} title={`${day} ${hour}:00–${hour + 1}:00 UTC: ${formatCount(count)}`}>
                    <span style={{ opacity: count === 0 ? 0 : 0.12 + 0.88 * Math.sqrt(count / most) }} />
                    <span className="sr-only">{formatCount(count)}</span>
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
