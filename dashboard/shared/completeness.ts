import {
  type Comparison,
  type Coverage,
  countNotRead,
  type Gap,
  type GapKind,
  type MachineHealth,
} from '../../contract/environment.ts';
import { formatAgo, formatCount, plural } from '../kit/format.ts';

/** The transcripts of all machines together. */
export interface TeamCoverage extends Coverage {
  seen: number;
  notRead: number;
  /** How many machines have reported their numbers. */
  machines: number;
}

/** Undefined if no machine has reported its numbers. */
export function sumCoverage(machines: readonly MachineHealth[]): TeamCoverage | undefined {
  const reported = machines.filter(({ coverage }) => coverage !== undefined);
  if (reported.length === 0) return undefined;
  const sum = { captured: 0, keptBack: 0, waiting: 0, notRead: 0 };
  for (const { coverage, gaps = [] } of reported) {
    sum.captured += coverage?.captured ?? 0;
    sum.keptBack += coverage?.keptBack ?? 0;
    sum.waiting += coverage?.waiting ?? 0;
    sum.notRead += countNotRead(gaps);
  }
  const seen = sum.captured + sum.keptBack + sum.waiting + sum.notRead;
  return { ...sum, seen, machines: reported.length };
}

/** A gap of one kind, agent and version on several machines. */
export interface TeamGap extends Gap {
  machines: string[];
}

/** The gaps of all machines, the largest first. */
export function mergeGaps(machines: readonly MachineHealth[]): TeamGap[] {
  const all = machines.flatMap(({ environmentId, gaps = [] }) => gaps.map((gap) => ({ ...gap, environmentId })));
  const groups = Map.groupBy(all, ({ kind, agent, version = '' }) => `${kind} ${agent} ${version}`).values();
  return [...groups]
    .map((same): TeamGap => {
      const { environmentId: _, ...gap } = same[0] as (typeof same)[number];
      const count = same.reduce((sum, one) => sum + one.count, 0);
      return { ...gap, count, machines: same.map(({ environmentId }) => environmentId) };
    })
    .sort((one, other) => other.count - one.count);
}

const GAPS: Record<GapKind, [one: string, many: string]> = {
  ending: ['file with an unknown ending', 'files with an unknown ending'],
  table: ['session in an unknown table', 'sessions in an unknown table'],
  folder: ['transcript in a further folder', 'transcripts in a further folder'],
  agent: ['file of an agent that is not supported', 'files of an agent that is not supported'],
  unreadable: ['file or folder that cannot be opened', 'files and folders that cannot be opened'],
  line: ['line that was too long', 'lines that were too long'],
  record: ['new type of record, captured as a whole', 'new types of records, captured as a whole'],
  field: ['new field, captured as a whole', 'new fields, captured as a whole'],
};

/** A command line newer than this page may report a kind that the page does not know. */
export function wordGap({ kind, count }: Gap): string {
  const [one, many] = Object.hasOwn(GAPS, kind) ? GAPS[kind as GapKind] : ['other gap', 'other gaps'];
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

const PROBLEMS: { readonly [problem: string]: string } = {
  missing: 'missing',
  doubled: 'doubled',
  different: 'different',
  surplus: 'in no transcript',
  disordered: 'out of order',
  line: 'too long',
  unread: 'not read',
};

const wordProblem = ({ problem, count }: Comparison['problems'][number]): string =>
  `${formatCount(count)} ${Object.hasOwn(PROBLEMS, problem) ? PROBLEMS[problem] : 'otherwise wrong'}`;

/** The result of a machine's last comparison. */
export function wordComparison({ comparedAt, sessions, problems }: Comparison, now: number): string {
  const found = sessions === 0 && problems.length === 0 ? 'nothing to compare' : 'all there';
  const result = problems.length > 0 ? problems.map(wordProblem).join(', ') : found;
  return `${result}, ${formatAgo(Date.parse(comparedAt), now)}`;
}

/** The answer for the organization. Machines that were never compared are counted, so silence is no yes. */
export function wordMissing(machines: readonly MachineHealth[], now: number): { text: string; isWrong: boolean } {
  const compared = machines.flatMap(({ comparison }) => comparison ?? []);
  if (compared.length === 0) return { text: 'No machine was compared with the service yet', isWrong: false };
  const never = machines.length - compared.length;
  const oldest = Math.min(...compared.map(({ comparedAt }) => Date.parse(comparedAt)));
  const others = never === 0 ? '' : `; ${formatCount(never)} never compared`;
  const ago = `${compared.length === 1 ? '' : 'the first '}${formatAgo(oldest, now)}`;
  const wrong = compared.filter(({ problems }) => problems.length > 0);
  if (wrong.length === 0) {
    const text = `Nothing on ${plural(compared.length, 'machine')} compared, ${ago}${others}`;
    return { text, isWrong: false };
  }
  const sums = Map.groupBy(
    wrong.flatMap(({ problems }) => problems),
    ({ problem }) => problem,
  );
  const problems = [...sums].map(([problem, all]) =>
    wordProblem({ problem, count: all.reduce((sum, { count }) => sum + count, 0) }),
  );
  const text = `${problems.join(', ')} on ${formatCount(wrong.length)} of ${plural(compared.length, 'machine')}${others}`;
  return { text, isWrong: true };
}
