import { type Line, textOf } from './history.ts';

/** What must hold, whatever was broken; the sentence says what it means where it does not. */
export const RULES = {
  lost: 'acknowledged, and not there',
  moved: 'acknowledged, and there under another number',
  doubled: 'there twice',
  gap: 'numbers that do not follow each other, or a count that is not theirs',
  torn: 'there in part, or although it was refused',
  foreign: 'there, and sent by nobody',
  changed: 'answered differently when it was sent again',
  disordered: 'in front of what was acknowledged before it was sent',
  late: 'taken after the close or the deletion of its session was acknowledged',
  kept: 'deleted, and still there in part',
  unexpired: 'older than sessions are kept, and still there',
  unseen: 'read by somebody, and not there afterwards, or read and then not read',
  status: 'an answer that is not documented',
} as const;
export type Rule = keyof typeof RULES;

/** A session as the service shows it once all is mended. */
export interface Stored {
  eventCount: number;
  events: readonly { sequence: number; text: string }[];
  /** The service does not have it any more; `eventCount` is then how many rows the store still has of it. */
  isGone?: true;
}

export interface Verdict {
  appends: number;
  events: number;
  requests: number;
  unanswered: number;
  unavailable: number;
  replays: number;
  /** Sessions that a person deleted, and those that expired. */
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

/** A session is deleted, its machine is revoked, or it expires. */
export const WAYS_TO_END = 3;

/** Of an append, as the interface says. 429 is not among them: the limits are off. */
const DOCUMENTED = new Set([
  '200',
  '202',
  '404 session_deleted',
  '409 session_closed',
  '409 idempotency_in_progress',
  '503 service_unavailable',
]);

/** Holds what was answered against what is there. Sessions that `stored` lacks hold nothing. */
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
    if (session.aged !== undefined && !hasExpired) judgeKept(session, report);
  }
  for (const name of stored.keys()) if (!sessions.has(name)) report('foreign', name);
  return verdict;
}

/** In rounds enough for each way to end a session, no way may have been left out, or nothing was judged of it. */
export function judgeEndings(verdict: Verdict, rounds: number): Verdict {
  if (rounds < WAYS_TO_END) return verdict;
  const faults = [...verdict.faults];
  if (verdict.deleted === 0) faults.push({ rule: 'kept', what: `in ${rounds} rounds, no session was deleted` });
  if (verdict.expired === 0) faults.push({ rule: 'unexpired', what: `in ${rounds} rounds, no session has expired` });
  return { ...verdict, faults };
}

type Report = (rule: Rule, what: string) => void;
const NOTHING: Stored = { eventCount: 0, events: [] };

function collect(lines: Iterable<Line>, verdict: Verdict, report: Report): Map<string, Session> {
  const sessions = new Map<string, Session>();
  const appends = new Map<string, Append>();
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
    if (code === 'session_closed') {
      if (append.answered) report('changed', `${append.name}: acknowledged, and then refused`);
      append.refused = true;
    }
    if (first === undefined || last === undefined) return;
    if (append.refused) report('changed', `${append.name}: refused, and then acknowledged`);
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
    else if ('closed' in line) session(line.closed).closed ??= line.at;
    else if ('deleting' in line) session(line.deleting).isDeleted = true;
    else if ('deleted' in line) session(line.deleted).deleted ??= line.at;
    else if ('aged' in line) session(line.aged).aged ??= line.at;
    else session(line.read).reads.push(line);
  }
  return sessions;
}

function judgeSession({ name, appends, closed, reads }: Session, stored: Stored, report: Report): void {
  const places = new Map<string, number>();
  for (const [index, { sequence, text }] of stored.events.entries()) {
    if (sequence !== index + 1) report('gap', `${name}: number ${sequence} where ${index + 1} is due`);
    if (places.has(text)) report('doubled', text);
    else places.set(text, sequence);
  }
  if (stored.eventCount !== stored.events.length) {
    report('gap', `${name}: it counts ${stored.eventCount} events, and has ${stored.events.length}`);
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
    if (count < most || !isThere) report('unseen', `${name}: ${count} events, the last being ${text}`);
    most = Math.max(most, count);
  }
}

/** Of a session that was deleted, `stored` counts the rows that are left. */
function judgeDeleted({ name, appends, deleted }: Session, stored: Stored, report: Report): void {
  if (stored.eventCount > 0) report('kept', `${name}: ${stored.eventCount} rows`);
  for (const { name: late, sent, answered } of appends) {
    if (deleted !== undefined && answered && sent > deleted) report('late', late);
  }
}

/** What was added to an old session keeps it: none of that may be gone with it. */
function judgeExpired({ name, appends, aged = 0 }: Session, stored: Stored, report: Report): void {
  if (stored.eventCount > 0) report('kept', `${name}: ${stored.eventCount} rows`);
  for (const { name: late, sent, answered } of appends) if (answered && sent > aged) report('lost', late);
}

/** Only what was added to an old session keeps it. */
function judgeKept({ name, appends, aged = 0 }: Session, report: Report): void {
  if (!appends.some(({ sent, answered }) => answered && sent > aged)) report('unexpired', name);
}

const textsOf = ({ name, count }: Append): string[] => Array.from({ length: count }, (_, index) => textOf(name, index));

function judgeAppend(append: Append, places: ReadonlyMap<string, number>, report: Report): void {
  const found = textsOf(append).map((text) => places.get(text));
  const { name, answered, refused, count } = append;
  if (answered) {
    if (answered.last - answered.first + 1 !== count) report('changed', `${name}: numbers for another count`);
    if (found.includes(undefined)) report('lost', name);
    else if (found.some((place, index) => place !== answered.first + index)) report('moved', name);
    return;
  }
  const [first] = found;
  const isAbsent = found.every((place) => place === undefined);
  const isWhole = first !== undefined && found.every((place, index) => place === first + index);
  if (refused ? !isAbsent : !isAbsent && !isWhole) report('torn', name);
}

/** What was acknowledged before another was sent has the lower number. */
function judgeOrder(appends: readonly Append[], report: Report): void {
  const placed = appends.flatMap(({ name, sent, answered }) => (answered ? [{ name, sent, ...answered }] : []));
  let earliest = Number.POSITIVE_INFINITY;
  for (const { name, sent, at } of placed.sort((a, b) => b.first - a.first)) {
    if (earliest < sent) report('disordered', name);
    earliest = Math.min(earliest, at);
  }
}
