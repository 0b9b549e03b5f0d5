import { formatCount } from '../../contract/count.ts';
import type { Comparison, Gap } from '../../contract/environment.ts';
import { GAP_KINDS, type GapKind } from '../../contract/gap-kinds.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import type { Output, OutputLine } from '../output.ts';

/** The possible problems of an event. */
const PROBLEMS = {
  missing: 'missing at the service',
  doubled: 'at the service more than once',
  different: 'different at the service',
  surplus: 'at the service, but in no transcript',
  disordered: 'out of order at the service',
} as const;
export type Problem = keyof typeof PROBLEMS;

/** One difference, with everything that locates it. */
export interface Difference {
  problem: Problem;
  agent: string;
  session: string;
  serviceSession?: string;
  sequence?: number;
  /** The absolute path of the file, and the record's byte offset in it. */
  file?: string;
  position?: number;
  eventType: string;
  /** The part's number, for an event in several parts. */
  part?: string;
}

/** Counts, and differences that are no fault, with their words. */
const COUNTS = {
  sessions: undefined,
  files: undefined,
  /** Records with all of their events at the service. */
  records: undefined,
  events: undefined,
  replayed: (count: number) =>
    `${formatCount(count, 'record')} that forks copied: captured in the session they came from.`,
  waiting: (count: number) => `${formatCount(count, 'record')} waiting to be captured or sent.`,
  setAside: (count: number) =>
    `${formatCount(count, 'record')} set aside, because the service refused them: see \`capture status\`.`,
  keptBack: (count: number) => `${formatCount(count, 'record')} kept back at your request.`,
  masked: (count: number) =>
    `${formatCount(count, 'event')} masked differently, because other secrets were known then.`,
  /** Events from before a transcript was rewritten. */
  history: (count: number) => `${formatCount(count, 'event')} from before a transcript was rewritten.`,
  deletedFiles: (count: number) =>
    `${formatCount(count, 'transcript')} cannot be verified: the agent deleted the file.`,
  unverifiable: (count: number) => `${formatCount(count, 'event')} cannot be verified: their transcript was deleted.`,
  unreadableFiles: undefined,
  /** Each has an event at the service that says how long the line was. */
  tooLong: undefined,
  newFiles: (count: number) => `${formatCount(count, 'transcript')} not captured yet: run \`capture import\`.`,
} satisfies { [what: string]: ((count: number) => string) | undefined };
export type Counted = keyof typeof COUNTS;

export type Findings = ReturnType<typeof createFindings>;

/** A program gets so many differences. The others are only counted. */
const MOST = 1000;
/** A person reads the first few. */
const MAX_LINES = 20;

export function createFindings() {
  const zeros = <Name extends string>(names: object) =>
    Object.fromEntries(Object.keys(names).map((name) => [name, 0])) as Record<Name, number>;
  const counts = zeros<Counted>(COUNTS);
  const problems = zeros<Problem>(PROBLEMS);
  const list: Difference[] = [];
  const gaps: Gap[] = [];
  return {
    counts,
    problems,
    list,
    /** What no reader reads or knows. */
    gaps,
    count: (what: Counted, by = 1): void => {
      counts[what] += by;
    },
    add(finding: Difference): void {
      problems[finding.problem]++;
      if (list.length < MOST) list.push(finding);
    },
  };
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

const countGaps = (gaps: readonly Gap[], isRead: boolean): number =>
  sum(gaps.filter(({ kind }) => GAP_KINDS[kind as GapKind].isRead === isRead).map(({ count }) => count));

/** The result for the service: counts and fixed words. */
export function toComparison({ counts, problems, gaps }: Findings, now: number): Comparison {
  const all = { ...problems, line: counts.tooLong, unread: countGaps(gaps, false) };
  return {
    comparedAt: new Date(now).toISOString(),
    sessions: counts.sessions,
    records: counts.records,
    problems: Object.entries(all).flatMap(([problem, count]) => (count > 0 ? [{ problem, count }] : [])),
  };
}

const ADVICE =
  'Keep the transcripts, and ask an administrator whether the data of the service was restored from an older copy, or changed.';

/** Prints the findings. Returns the command's exit code. */
export function reportFindings({ counts, problems, list, gaps }: Findings, output: Output): ExitCode {
  const wrong = Object.entries(PROBLEMS).flatMap(([problem, words]) => {
    const count = problems[problem as Problem];
    return count > 0 ? [`${formatCount(count, 'event')} ${words}`] : [];
  });
  const total = sum(Object.values(problems));
  const lost =
    counts.tooLong > 0 ? [`${formatCount(counts.tooLong, 'line')} of a transcript too long to be captured`] : [];
  const left = total - list.length;
  const unprinted = total - Math.min(list.length, MAX_LINES);
  const about = `${formatCount(counts.records, 'record')} of ${formatCount(counts.sessions, 'session')}: `;
  const unread = countGaps(gaps, false);
  const unfamiliar = countGaps(gaps, true);
  const notRead = unread > 0 ? [`${unread.toLocaleString('en-US')} not read`] : [];
  const isEmpty = counts.sessions === 0;
  const faults = [...wrong, ...lost, ...notRead, ...(isEmpty ? ['no captured session was compared'] : [])];
  const summary = summarize(about, faults, unfamiliar);
  output.answer({ ...counts, problems, gaps, findings: list, ...(left > 0 && { findingsNotListed: left }) }, [
    ...list.slice(0, MAX_LINES).map(describeFinding),
    ...(unprinted > 0 ? [`… and ${formatCount(unprinted, 'more event')}: \`--json\` lists more of them`] : []),
    ...Object.entries(COUNTS).flatMap(([what, say]) => {
      const count = counts[what as Counted];
      return count > 0 && say ? [say(count)] : [];
    }),
    ...gaps.map(describeGap),
    summary,
    ...(total > 0 ? [ADVICE] : []),
  ]);
  return faults.length > 0 ? EXIT.failure : EXIT.ok;
}

/** Never says that everything is there while there is something that no reader reads or knows. */
function summarize(about: string, faults: readonly string[], unfamiliar: number): OutputLine {
  if (faults.length > 0) return ['red', about + faults.join(', '), ''];
  if (unfamiliar === 0) return ['green', `${about}all there`, ''];
  return [
    'yellow',
    `${about}none missing, ${formatCount(unfamiliar, 'type or field', 'types and fields')} not known`,
    '',
  ];
}

function describeGap({ kind, agent, version, count }: Gap): string {
  const of = version === undefined ? agent : `${agent} ${version}`;
  return `${count.toLocaleString('en-US')} of ${of}: ${GAP_KINDS[kind as GapKind].describes}; see \`capture status\`.`;
}

function describeFinding({ problem, agent, session, file, position, eventType, ...more }: Difference): string {
  const where = file === undefined ? '' : `  ${file}${position === undefined ? '' : `:${position}`}`;
  const part = more.part === undefined ? '' : ` (part ${more.part})`;
  const at = more.serviceSession === undefined ? '' : `  ${more.serviceSession} #${more.sequence}`;
  return `${problem.padEnd(10)}  ${agent} ${session}${where}${at}  ${eventType}${part}`;
}
