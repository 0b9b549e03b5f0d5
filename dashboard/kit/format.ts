/** `14:02:31` in the reader's time zone. */
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayAndTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });
const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const shortDayOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const utcDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const utcDayOfYear = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const whole = new Intl.NumberFormat('en-US');

/** A larger number can only be a mistake. */
const MAX_COUNT = 1e15;

export const formatClock = (time: number): string => clock.format(time);
export const formatExact = (time: number): string => dayAndTime.format(time);
export const formatUtcDay = (time: number, length: 'short' | 'year' = 'short'): string =>
  (length === 'year' ? utcDayOfYear : utcDay).format(time);
export const formatCount = (count: number): string =>
  count < MAX_COUNT ? whole.format(count) : `>${whole.format(MAX_COUNT)}`;

/** `1,204` up to four digits, then `12.3k`, `4.5M`, `7.2B`, and `>999T` for numbers that make no sense. */
export function formatShort(count: number): string {
  if (count < 10_000) return formatCount(count);
  if (count < 999_500) return `${(count / 1000).toFixed(count < 100_000 ? 1 : 0)}k`;
  if (count < 999.5e6) return `${(count / 1e6).toFixed(count < 100e6 ? 1 : 0)}M`;
  if (count < 999.5e9) return `${(count / 1e9).toFixed(count < 100e9 ? 1 : 0)}B`;
  if (count < 999.5e12) return `${(count / 1e12).toFixed(count < 100e12 ? 1 : 0)}T`;
  return '>999T';
}

/** Tokens in short form. Every model reads and writes some, so a sum of 0 means that none were recorded. */
export const formatTokens = (tokens: number): string => (tokens === 0 ? '–' : formatShort(tokens));

/** US dollars: `<$0.01`, `$0.41`, `$1,204`, `$45.2k`. */
export function formatCost(dollars: number): string {
  if (dollars > 0 && dollars < 0.01) return '<$0.01';
  if (dollars < 100) return `$${dollars.toFixed(2)}`;
  return `$${formatShort(Math.round(dollars))}`;
}

/** A part between 0 and 1: `<1 %`, `4.2 %`, `38 %`. */
export function formatPart(part: number): string {
  const percent = part * 100;
  if (percent > 0 && percent < 1) return '<1 %';
  return `${percent < 9.95 ? Number(percent.toFixed(1)) : Math.round(percent)} %`;
}

/** `340 ms`, `2.4 s`, `41 min 12 s`, `3 h 05 min`, `3 d 4 h`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const total = Math.round(seconds);
  if (total < 60) return `${total} s`;
  const minutes = Math.floor(total / 60);
  if (minutes < 60) return total % 60 === 0 ? `${minutes} min` : `${minutes} min ${total % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  return hours % 24 === 0 ? `${Math.floor(hours / 24)} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The time since then, coarser with age; a date after a week. */
export function formatAgo(time: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - time) / 1000));
  if (seconds < 10) return 'just now';
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  const days = daysBetween(localDay(time), localDay(now));
  if (hours < 24 || days === 0) return `${hours} h ago`;
  if (days <= 7) return days === 1 ? 'yesterday' : `${days} days ago`;
  const sameYear = new Date(time).getFullYear() === new Date(now).getFullYear();
  return (sameYear ? shortDay : shortDayOfYear).format(time);
}

const fullDay = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });
const fullDayOfYear = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
});

/** The day of a moment in the reader's time zone, as `2026-11-21`. */
export function localDay(time: number): string {
  const date = new Date(time);
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0'));
  return `${date.getFullYear()}-${month}-${day}`;
}

/** The days of the calendar from one to the other. A day may have 23 or 25 hours, so times would not show them. */
const daysBetween = (day: string, later: string) => (Date.parse(later) - Date.parse(day)) / 86_400_000;

/** `Today`, `Yesterday`, `Tuesday 17 November`, with the year if it is another one. @param day in the reader's time zone */
export function formatDay(day: string, now: number): string {
  if (day === localDay(now)) return 'Today';
  if (daysBetween(day, localDay(now)) === 1) return 'Yesterday';
  const date = new Date(`${day}T12:00:00`);
  return (date.getFullYear() === new Date(now).getFullYear() ? fullDay : fullDayOfYear).format(date);
}

const timeOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** For a line below the name of its day: today, the time since then; otherwise the time of day, `14:05`. */
export const formatWithinDay = (time: number, now: number): string =>
  localDay(time) === localDay(now) ? formatAgo(time, now) : timeOfDay.format(time);

const weekdayAndTime = new Intl.DateTimeFormat('en-GB', { weekday: 'long', hour: '2-digit', minute: '2-digit' });
const WEEK_MS = 7 * 86_400_000;

/** A moment in a sentence: `13:05`, `Friday 13:05` within a week, `3 Nov` otherwise. */
export function formatMoment(time: number, now: number): string {
  if (localDay(time) === localDay(now)) return timeOfDay.format(time);
  return (Math.abs(now - time) < WEEK_MS ? weekdayAndTime : shortDay).format(time);
}

/** The time left until then, in hours or days. Nobody needs the minutes of a deadline in a week. */
export function formatLeft(time: number, now: number): string {
  const hours = Math.ceil((time - now) / 3_600_000);
  return hours < 48 ? `${Math.max(1, hours)} h` : `${Math.round(hours / 24)} days`;
}

export const plural = (count: number, noun: string): string => `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

/** A path relative to the folder; the whole path if the file is elsewhere. */
export function relativePath(path: string, folder: string | undefined): string {
  const base = folder?.replace(/[\\/]+$/, '');
  const isInside = base !== undefined && path.startsWith(base) && /^[\\/][^\\/]/.test(path.slice(base.length));
  return isInside ? path.slice(base.length + 1) : path;
}
