import { afterEach, expect, test } from 'vitest';
import { dayOf, parseQuery } from '../../contract/query.ts';
import { calendarOf, UTC } from '../../contract/time-zone.ts';
import { sessionRow } from '../test/rows.ts';
import { createService, type Service } from '../test/service.ts';
import { show } from '../test/show.tsx';
import { loadIn, moveBack } from '../test/zone.ts';

afterEach(moveBack);

/** Sessions around the last two midnights of the browser. The service finds those whose start is on the day of the query. */
function createDays(): Service {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const yesterday = new Date(midnight);
  yesterday.setDate(yesterday.getDate() - 1);
  const starts = {
    today: midnight,
    evening: midnight - 1,
    morning: yesterday.getTime(),
    earlier: yesterday.getTime() - 1,
  };
  const rows = Object.entries(starts).map(([id, start]) => sessionRow(id, new Date(start).toISOString()));
  const service = createService([], rows);
  service.answers.searchSessions = ({ q = '', zone = 'UTC' }) => {
    const calendar = calendarOf(zone) ?? UTC;
    const [filter] = parseQuery(q).filters;
    const day = filter && dayOf(filter.value, Date.now(), calendar);
    const isFound = (time: number) => day === undefined || calendar.dayAt(time) === day;
    return { sessions: rows.filter(({ session }) => isFound(Date.parse(session.startedAt))), nextCursor: null };
  };
  return service;
}

/** The lines of the list: names of days, and ids of sessions. */
const lines = () =>
  [...document.querySelectorAll<HTMLElement>('[data-day], [data-session]')].map(
    ({ dataset, textContent }) => dataset.session ?? textContent,
  );

test.each(['Pacific/Auckland', 'Pacific/Honolulu', 'Asia/Kolkata'])(
  'in %s on:yesterday finds exactly the sessions that the list shows below “Yesterday”',
  async (zone) => {
    await loadIn(zone, '/sessions');
    const service = createDays();
    const { close } = await show('/sessions', service);
    await expect.poll(() => lines().slice(0, 5)).toEqual(['Today', 'today', 'Yesterday', 'evening', 'morning']);
    close();
    await show('/sessions?q=on:yesterday', service);
    await expect.poll(lines).toEqual(['Yesterday', 'evening', 'morning']);
  },
);
