import type { Comparison, Coverage, MachineHealth } from '../../contract/environment.ts';
import { countNotRead } from '../../contract/gap-kinds.ts';
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

const PROBLEMS: { readonly [problem: string]: string } = {
  missing: 'missing',
  doubled: 'doubled',
  different: 'different',
  surplus: 'in no transcript',
  disordered: 'out of order',
  line: 'too long',
  unread: 'not read',
};

export const wordProblem = ({ problem, count }: Comparison['problems'][number]): string =>
  `${formatCount(count)} ${Object.hasOwn(PROBLEMS, problem) ? PROBLEMS[problem] : 'otherwise wrong'}`;

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
