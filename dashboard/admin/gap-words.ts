import type { Comparison, Gap, MachineHealth } from '../../contract/environment.ts';
import type { GapKind } from '../../contract/gap-kinds.ts';
import { formatAgo, formatCount } from '../kit/format.ts';
import { wordProblem } from '../shared/completeness.ts';

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

/** The result of a machine's last comparison. */
export function wordComparison({ comparedAt, sessions, problems }: Comparison, now: number): string {
  const found = sessions === 0 && problems.length === 0 ? 'nothing to compare' : 'all there';
  const result = problems.length > 0 ? problems.map(wordProblem).join(', ') : found;
  return `${result}, ${formatAgo(Date.parse(comparedAt), now)}`;
}
