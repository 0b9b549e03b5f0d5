import { isInside } from '../paths.ts';
import type { Beginning } from './lineage.ts';
import type { Pause, WritingTime } from './pauses.ts';

/*
 * A session that is captured may still have periods whose records stay on this machine. The reader leaves these records out,
 * and `capture verify` does not expect them at the service.
 *
 * | period                 | which time of a record counts | closed                          | repetitions stay, too, if           |
 * | ---------------------- | ----------------------------- | ------------------------------- | ----------------------------------- |
 * | expired at the service | the time that it names        | up to the latest expired time   | never: the summary is newer         |
 * | before consent         | the time that it names        | until capturing began           | the session or an ancestor is older |
 * | lost decision          | the time that it names        | always, if the lineage is older | likewise                            |
 * | pause                  | all times it may have         | from its beginning to its end   | the lineage began before its end    |
 *
 * A record that names no time takes the latest time before it in its file, or else a time of the file: its last change if
 * the record was written since the last reading, and its beginning otherwise.
 */

/** A person's decision about earlier sessions. Later ones are captured. */
export interface Consent {
  /** When capturing began, in milliseconds since 1970. */
  since: number;
  /** Which earlier sessions are captured as well; a list names their folders. */
  history: 'all' | 'none' | string[];
  /** Whether a person decided. Otherwise `history` is `none`. */
  isByPerson?: boolean;
  /** Whether the decisions from before `since` are lost. Then no session that began before `since` is captured. */
  isLost?: boolean;
}

/** Why a record stays on this machine. */
export type Why = 'expired at the service' | 'before consent' | 'lost decision' | 'pause';

/** A period of a session. No record from it leaves this machine. Times are in milliseconds since 1970. */
export interface Closed {
  why: Why;
  from: number;
  /** The first time after it. */
  until: number;
  /** Whether the session or an ancestor may have records from it, so that a later record may repeat them. */
  isRepeatable: boolean;
}

/** The decisions about periods of sessions. */
export interface PeriodDecisions {
  consent: Consent | undefined;
  pauses: readonly Pause[];
  /** Records of the session until this time have expired at the service; 0 if none have. */
  expiredUntil(session: string): number;
}

const ALWAYS = Number.MAX_SAFE_INTEGER;

/** The closed periods of a session, which comes with its ancestors: a fork repeats their records. */
export function closedPeriodsOf(
  lineage: readonly Beginning[],
  { consent, pauses, expiredUntil }: PeriodDecisions,
): Closed[] {
  const startedAt = Math.min(...lineage.map((one) => one.startedAt ?? 0));
  return [
    ...lineage.flatMap((one) => expired(expiredUntil(one.session))),
    ...lineage.flatMap((one) => beforeConsent(consent, one)),
    ...pauses.map(
      ({ from, until = Number.POSITIVE_INFINITY }): Closed => ({
        why: 'pause',
        from,
        until,
        isRepeatable: startedAt < until,
      }),
    ),
  ];
}

const upTo = (why: Why, until: number, isRepeatable: boolean): Closed => ({
  why,
  from: Number.NEGATIVE_INFINITY,
  until,
  isRepeatable,
});

const expired = (until: number): Closed[] => (until === 0 ? [] : [upTo('expired at the service', until + 1, false)]);

function beforeConsent(consent: Consent | undefined, { folder, startedAt = 0 }: Beginning): Closed[] {
  const since = wantedFrom(consent, folder);
  if (since === 0) return [];
  const isOlder = startedAt < since;
  return consent?.isLost && isOlder ? [upTo('lost decision', ALWAYS, true)] : [upTo('before consent', since, isOlder)];
}

/** The time from which records of a folder's sessions may be captured, in milliseconds since 1970. 0 means all records. */
export function wantedFrom(consent: Consent | undefined, folder: string | undefined): number {
  if (consent === undefined || consent.history === 'all') return 0;
  if (consent.history === 'none' || folder === undefined) return consent.since;
  return consent.history.some((each) => isInside(folder, each)) ? 0 : consent.since;
}

/** Whether something stays on this machine because nobody consented to it. */
export const lacksConsent = (why: Why | undefined): boolean => why === 'before consent' || why === 'lost decision';

const isOfConsent = ({ why }: Closed): boolean => lacksConsent(why);

/** Whether a part of the session from before the consent stays here. */
export const hasEarlier = (closed: readonly Closed[]): boolean =>
  closed.some((one) => isOfConsent(one) && one.isRepeatable);

const isUnlimited = ({ why }: Closed): boolean => why !== 'pause';

/** Every record from before this time stays on this machine. 0 if there is no such time. */
export const openFrom = (closed: readonly Closed[]): number =>
  Math.max(0, ...closed.filter(isUnlimited).map(({ until }) => until));

/**
 * Why a transcript that was last written at this time stays on this machine as a whole. Undefined if some of it may leave. A
 * missing consent comes first, because a person can give it.
 */
export function whyAllStays(modifiedAt: number, closed: readonly Closed[]): Why | undefined {
  const covering = closed.filter((one) => isUnlimited(one) && modifiedAt < one.until);
  return (covering.find(isOfConsent) ?? covering[0])?.why;
}

/**
 * The periods that were closed when a transcript was last read. A later consent opens nothing before the transcript is read
 * again, and a narrower one takes nothing back that was sent. `leftBefore` is stored with the transcript.
 */
export function closedAtReading(closed: readonly Closed[], leftBefore: number | undefined): Closed[] {
  const others = closed.filter((one) => !isOfConsent(one));
  const isOpenedSince = leftBefore !== undefined && openFrom(closed) < leftBefore;
  const isRepeatable = isOpenedSince || hasEarlier(closed);
  return [...others, upTo('before consent', leftBefore ?? 0, isRepeatable)];
}

/** The known times of a record. */
export interface RecordTimes {
  /** The time that it names, or the latest one before it in its file. 0 if there is none. */
  occurredAt: number;
  /** The range of its possible writing times. */
  written: WritingTime;
  /** Whether it repeats the content of earlier records. */
  restates: boolean;
}

/** The times of a transcript, which count for its records without a time. */
export interface FileTimes {
  startedAt: number;
  modifiedAt: number;
  /** Whether every record to be read was written since the file was last read to its end. */
  isFollowed: boolean;
  /** The latest possible writing time of a record without a time. It is asked for only if a pause may cover the record. */
  writtenTo(): number;
}

/** Why a record stays on this machine. Undefined if it may leave. */
export function whyStays(record: RecordTimes, file: FileTimes, closed: readonly Closed[]): Why | undefined {
  const { written, restates } = record;
  // The age of records that already existed at the first reading is unknown. They count as old as the beginning of the file.
  const named = record.occurredAt || (file.isFollowed ? file.modifiedAt : file.startedAt);
  const from = written.from || file.startedAt;
  const to = () => (Number.isFinite(written.to) ? written.to : Math.max(from, file.writtenTo()));
  const covers = (one: Closed) => (one.why === 'pause' ? from < one.until && to() >= one.from : named < one.until);
  return (closed.find(covers) ?? closed.find(({ isRepeatable }) => restates && isRepeatable))?.why;
}
