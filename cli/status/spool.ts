import { formatAge, formatBytes, formatCount } from '../output.ts';
import { COUNTERS, type Counter } from '../spool/meta.ts';
import type { Spool } from '../spool/open.ts';

export type SpoolReport = ReturnType<typeof readSpool>;

/** What a spool holds and has seen. `capBytes` is what may wait in it. */
export function readSpool(spool: Spool, capBytes: number) {
  const lastUpload = spool.getMeta('lastUploadAt');
  const lastError = spool.getMeta('lastError');
  return {
    capBytes,
    spooled: spool.batches.depth(),
    counters: spool.counters(),
    refused: spool.refused.perProblem(),
    notices: spool.notices(),
    sent: spool.sessions.perAgent(),
    ...(lastUpload !== undefined && { lastUploadAt: new Date(Number(lastUpload)).toISOString() }),
    ...(lastError !== undefined && { lastError }),
  };
}

/** Shown only where they are not zero: each is something a person may want to know of. */
const NOTEWORTHY: readonly Counter[] = [
  'secretsMasked',
  'recordsWithheld',
  'recordsReplayed',
  'recordsUnreadable',
  'linesTooLong',
  'eventsRefused',
  'sessionsContinued',
];

export function describeSpool(report: SpoolReport | undefined, now: number): string[] {
  if (report === undefined) return ['Spool         nothing captured yet'];
  const { spooled, capBytes, counters, refused, notices, lastUploadAt, lastError } = report;
  const age = spooled.oldest === undefined ? '' : `, the oldest for ${formatAge(now - spooled.oldest)}`;
  return [
    ...notices.map(({ sentence, hint }) => `Notice        ${sentence}${hint === undefined ? '' : ` ${hint}`}`),
    spooled.events === 0
      ? 'Spool         empty: all is sent'
      : `Spool         ${formatCount(spooled.events, 'event')} (${formatBytes(spooled.bytes)} of ${formatBytes(capBytes)}) waiting${age}`,
    `Last upload   ${lastUploadAt === undefined ? 'never' : `${formatAge(now - Date.parse(lastUploadAt))} ago`}`,
    ...(lastError === undefined ? [] : [`Last error    ${lastError}`]),
    ...NOTEWORTHY.flatMap((name) =>
      counters[name] > 0 ? [`              ${counters[name].toLocaleString('en-US')} ${COUNTERS[name]}`] : [],
    ),
    ...refused.map(({ problem, events }) => `Refused       ${formatCount(events, 'event')}: ${problem}`),
  ];
}
