import type { Storage } from '../../contract/storage.ts';
import { useStorage } from '../app/queries.ts';
import { plural } from '../kit/format.ts';

/** The storage used, its quota, and an estimate of when the quota is reached. */
export function StorageUse() {
  const { data } = useStorage();
  if (!data) return '…';
  const { bytes, quotaBytes } = data;
  return (
    <span className="flex flex-col gap-1">
      {sayStorage(data)}
      {quotaBytes !== undefined && (
        <meter className="w-full" aria-label="Storage used" max={quotaBytes} value={bytes} />
      )}
    </span>
  );
}

function sayStorage({ bytes, quotaBytes, bytesAWeek, fullInDays }: Storage): string {
  const used =
    quotaBytes === undefined
      ? `${formatBytes(bytes)} stored`
      : `${formatBytes(bytes)} of ${formatBytes(quotaBytes)} used`;
  const growth = bytesAWeek === 0 ? [] : [`machines send about ${formatBytes(bytesAWeek)} a week`];
  return [used, ...growth, ...(fullInDays === undefined ? [] : [sayEnd(fullInDays)])].join(', ');
}

const MAX_SAID_DAYS = 3_650;

function sayEnd(days: number): string {
  if (days === 0) return 'full';
  if (days > MAX_SAID_DAYS) return 'full in more than ten years';
  return days < 60
    ? `full in about ${plural(days, 'day')}`
    : `full in about ${plural(Math.round(days / 30.4), 'month')}`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1000 ** power;
  return `${power > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[power]}`;
}
