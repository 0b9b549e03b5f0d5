import { type Line, textOf } from './history.ts';

/** The rules that must hold after any fault, each with a description of its violation. */
export const RULES = {
  lost: 'acknowledged, but missing',
  moved: 'acknowledged, but stored under another number',
  doubled: 'stored twice',
  gap: 'numbers with a gap, or a count that differs from the number of events',
  torn: 'stored in part, or stored although it was refused',
  foreign: 'stored, but never sent',
  changed: 'answered differently when it was repeated',
  disordered: 'stored before an append that was acknowledged before it was sent',
  late: 'accepted after the close or the deletion of its session was acknowledged',
  kept: 'deleted, but still stored in part',
  unexpired: 'older than the retention period, but still stored',
  unseen: 'seen by a reader and missing later, or fewer than the reader saw before',
  status: 'an undocumented answer',
} as const;
export type Rule = keyof typeof RULES;

/** A session as the service shows it after all faults are repaired. */
export interface Stored {
  eventCount: number;
  events: readonly { sequence: number; text: string }[];
  /** The service no longer has the session; `eventCount` is then the number of its rows that remain in the store. */
  isGone?: true;
}

export interface Verdict {
  appends: number;
  events: number;
  requests: number;
  unanswered: number;
  unavailable: number;
  replays: number;
  /** Sessions that a member deleted, and sessions that expired. */
  deleted: number;
  expired: number;
  faults: { rule: Rule; what: string }[];
}

interface Append {
  name: string;
  session: string;
  count: number;
  sent: number;
  answered?: { at: number; first: number; last: number; status: number };
  refused?: true;
}

interface Session {
  name: string;
  appends: Append[];
  closed?: number;
  isDeleted?: true;
  deleted?: number;
  aged?: number;
  reads: { count: number; text?: string }[];
}

export const EMPTY: Verdict = {
  appends: 0,
  events: 0,
  requests: 0,
  unanswered: 0,
  unavailable: 0,
  replays: 0,
  deleted: 0,
  expired: 0,
  faults: [],
};

/** The number of ways to end a session: it is deleted, its machine is revoked, or it expires. */
export const WAYS_TO_END = 3;

/** The documented answers to an append. 429 is not among them, since the rate limits are off. */
const DOCUMENTED = new Set([
  '200',
  '202',
  '404 session_deleted',
  '409 session_closed',
  '409 idempotency_in_progress',
  '503 service_unavailable',
]);

/** Compares the answers with the stored events. A session that `stored` lacks counts as empty. */
export function judge(lines: Iterable<Line>, stored: ReadonlyMap<string, Stored>): Verdict {
  const verdict: Verdict = { ...EMPTY, faults: [] };
  const report = (rule: Rule, what: string) => void verdict.faults.push({ rule, what });
  const sessions = collect(lines, verdict, report);
  for (const session of sessions.values()) {
    const there = stored.get(session.name) ?? NOTHING;
    const hasExpired = session.aged !== undefined && there.isGone === true;
    if (session.isDeleted) verdict.deleted++;
    else if (hasExpired) verdict.expired++;
    const judgeOne = session.isDeleted ? judgeDeleted : hasExpired ? judgeExpired : judgeSession;
    judgeOne(session, there, report);
    if (session.aged !== undefined && !hasExpired) judgeKept(session, there, report);
  }
  for (const name of stored.keys()) if (!sessions.has(name)) report('foreign', name);
  return verdict;
}

/** Reports a way to end a session that never occurred although the rounds sufficed for all ways: nothing was tested of it. */
export function judgeEndings(verdict: Verdict, rounds: number): Verdict {
  if (rounds < WAYS_TO_END) return verdict;
  const faults = [...verdict.faults];
  if (verdict.deleted === 0) faults.push({ rule: 'kept', what: `in ${rounds} rounds, no session was deleted` });
  if (verdict.expired === 0) faults.push({ rule: 'unexpired', what: `in ${rounds} rounds, no session expired` });
  return { ...verdict, faults };
}

type Report = (rule: Rule, what: string) => void;
const NOTHING: Stored = { eventCount: 0, events: [] };

function collect(lines: Iterable<Line>, verdict: Verdict, report: Report): Map<string, Session> {
  const sessions = new Map<string, Session>();
  const appends = new Map<string, Append>();
  /**
   * Whether the power is cut. A machine without power answers nothing, but here the program goes on for some milliseconds. The
   * kernel may then report a sync as done although it has just dropped the journal, so no answer is a promise.
   */
  let isDark = false;
  const session = (name: string): Session => {
    const known = sessions.get(name) ?? { name, appends: [], reads: [] };
    sessions.set(name, known);
    return known;
  };

  function answer(line: Extract<Line, { answer: string }>): void {
    const append = appends.get(line.answer);
    const { at, status, code, first, last } = line;
    const word = code === undefined ? String(status) : `${status} ${code}`;
    if (!append || !DOCUMENTED.has(word)) {
      report('status', `${line.answer}: ${word}`);
      return;
    }
    if (status === 503) verdict.unavailable++;
    if (isDark && status !== 503) {
      verdict.unanswered++;
      return;
    }
    if (code === 'session_closed') {
      if (append.answered) report('changed', `${append.name}: acknowledged, then refused`);
      append.refused = true;
    }
    if (first === undefined || last === undefined) return;
    if (append.refused) report('changed', `${append.name}: refused, then acknowledged`);
    const before = append.answered;
    if (!before) {
      append.answered = { at, first, last, status };
      verdict.appends++;
      verdict.events += append.count;
      return;
    }
    verdict.replays++;
    if (before.first !== first || before.last !== last || before.status !== status) {
      report('changed', `${append.name}: ${before.first} to ${before.last}, then ${first} to ${last}`);
    }
  }

  for (const line of lines) {
    if ('send' in line) {
      verdict.requests++;
      if (appends.has(line.send)) continue;
      const append = { name: line.send, session: line.session, count: line.count, sent: line.at };
      appends.set(line.send, append);
      session(line.session).appends.push(append);
    } else if ('answer' in line) answer(line);
    else if ('unanswered' in line) verdict.unanswered++;
    else if ('fault' in line) isDark = line.fault.startsWith('power ');
    else if ('mended' in line) isDark = false;
    else if ('deleting' in line) session(line.deleting).isDeleted = true;
    else if ('aged' in line) session(line.aged).aged ??= line.at;
    else if (isDark) continue;
    else if ('closed' in line) session(line.closed).closed ??= line.at;
    else if ('deleted' in line) session(line.deleted).deleted ??= line.at;
    else if ('read' in line) session(line.read).reads.push(line);
  }
  return sessions;
}

function judgeSession({ name, appends, closed, reads }: Session, stored: Stored, report: Report): void {
  const places = new Map<string, number>();
  for (const [index, { sequence, text }] of stored.events.entries()) {
    if (sequence !== index + 1) report('gap', `${name}: number ${sequence} instead of ${index + 1}`);
    if (places.has(text)) report('doubled', text);
    else places.set(text, sequence);
  }
  if (stored.eventCount !== stored.events.length) {
    report('gap', `${name}: the count is ${stored.eventCount}, but there are ${stored.events.length} events`);
  }
  for (const append of appends) judgeAppend(append, places, report);
  const texts = new Set(appends.flatMap((append) => textsOf(append)));
  for (const text of places.keys()) if (!texts.has(text)) report('foreign', text);
  judgeOrder(appends, report);
  for (const { name: late, sent, answered } of appends) {
    if (closed !== undefined && answered && sent > closed) report('late', late);
  }
  let most = 0;
  for (const { count, text } of reads) {
    const isThere = text === undefined || stored.events[count - 1]?.text === text;
    if (count < most || !isThere) report('unseen', `${name}: ${count} events, the last one being ${text}`);
    most = Math.max(most, count);
  }
}

/** For a deleted session, `stored` counts the rows that remain. */
function judgeDeleted({ name, appends, deleted }: Session, stored: Stored, report: Report): void {
  if (stored.eventCount > 0) report('kept', `${name}: ${stored.eventCount} rows`);
  for (const { name: late, sent, answered } of appends) {
    if (deleted !== undefined && answered && sent > deleted) report('late', late);
  }
}

/** An append keeps an old session from expiring, so no append acknowledged after its aging may be gone. */
function judgeExpired({ name, appends, aged = 0 }: Session, stored: Stored, report: Report): void {
  if (stored.eventCount > 0) report('kept', `${name}: ${stored.eventCount} rows`);
  for (const { name: late, sent, answered } of appends) if (answered && sent > aged) report('lost', late);
}

/** Only an append keeps an old session from expiring, even an append whose answer was lost. */
function judgeKept({ name, appends, aged = 0 }: Session, stored: Stored, report: Report): void {
  const texts = new Set(stored.events.map(({ text }) => text));
  const keeps = (append: Append) => append.sent > aged && textsOf(append).some((text) => texts.has(text));
  if (!appends.some(keeps)) report('unexpired', name);
}

const textsOf = ({ name, count }: Append): string[] => Array.from({ length: count }, (_, index) => textOf(name, index));

function judgeAppend(append: Append, places: ReadonlyMap<string, number>, report: Report): void {
  const found = textsOf(append).map((text) => places.get(text));
  const { name, answered, refused, count } = append;
  if (answered) {
    if (answered.last - answered.first + 1 !== count)
      report('changed', `${name}: the numbers do not match the count of events`);
    if (found.includes(undefined)) report('lost', name);
    else if (found.some((place, index) => place !== answered.first + index)) report('moved', name);
    return;
  }
  const [first] = found;
  const isAbsent = found.every((place) => place === undefined);
  const isWhole = first !== undefined && found.every((place, index) => place === first + index);
  if (refused ? !isAbsent : !isAbsent && !isWhole) report('torn', name);
}

/** An append that was acknowledged before another was sent has the lower number. */
function judgeOrder(appends: readonly Append[], report: Report): void {
  const placed = appends.flatMap(({ name, sent, answered }) => (answered ? [{ name, sent, ...answered }] : []));
  let earliest = Number.POSITIVE_INFINITY;
  for (const { name, sent, at } of placed.sort((a, b) => b.first - a.first)) {
    if (earliest < sent) report('disordered', name);
    earliest = Math.min(earliest, at);
  }
}
