import type { SessionFacts } from '../../contract/review.ts';
import { formatCount, formatDuration, formatShort, formatTokens, relativePath } from '../kit/format.ts';
import { costOf } from '../shared/session-cost.tsx';

/** A figure of both sessions, and the session with the better value, if any. */
export interface Figure {
  name: string;
  one: string;
  other: string;
  better?: 'one' | 'other';
}

type Read = (facts: SessionFacts) => number | undefined;

const tookOf: Read = ({ summary: { firstEventAt, lastEventAt } }) =>
  firstEventAt && lastEventAt ? Date.parse(lastEventAt) - Date.parse(firstEventAt) : undefined;

/** 0 means that the agent recorded none, so the value is unknown. */
const known = (count: number) => (count > 0 ? count : undefined);

const commitsOf = ({ commits }: SessionFacts): number => commits?.count ?? 0;

const testsOf: Read = ({ tests }) => tests && Number(tests.passed);

/** `best`: whether less or more is better. Figures without it describe the sessions, but do not judge them. */
const FIGURES: readonly [name: string, read: Read, show: (facts: SessionFacts) => string, best?: 'less' | 'more'][] = [
  ['tests at the end', testsOf, (facts) => ['red', 'green'][testsOf(facts) ?? 2] ?? '–', 'more'],
  ['duration', tookOf, (facts) => formatDefined(tookOf(facts), formatDuration), 'less'],
  ['prompts', ({ summary }) => summary.prompts, ({ summary }) => formatCount(summary.prompts), 'less'],
  ['tool calls', ({ summary }) => summary.toolCalls, ({ summary }) => formatCount(summary.toolCalls)],
  ['failures', ({ summary }) => summary.failures, ({ summary }) => formatCount(summary.failures), 'less'],
  ['commits', commitsOf, (facts) => formatCount(commitsOf(facts))],
  ['files changed', ({ summary }) => summary.filesChanged, ({ summary }) => formatCount(summary.filesChanged)],
  [
    'lines',
    () => undefined,
    ({ summary }) => `+${formatCount(summary.linesAdded)} −${formatCount(summary.linesRemoved)}`,
  ],
  [
    'tokens in',
    ({ summary }) => known(summary.inputTokens),
    ({ summary }) => formatTokens(summary.inputTokens),
    'less',
  ],
  [
    'tokens out',
    ({ summary }) => known(summary.outputTokens),
    ({ summary }) => formatTokens(summary.outputTokens),
    'less',
  ],
  ['cost', ({ summary }) => priceOf(summary), ({ summary }) => costOf(summary).text || 'price unknown', 'less'],
  ['model', () => undefined, modelOf],
];

/** A cost that is only known in part cannot be compared. */
const priceOf = ({ cost, inputTokens }: SessionFacts['summary']) => (inputTokens > 0 ? cost : undefined);

function modelOf({ summary, contextWindow }: SessionFacts): string {
  return (summary.model ?? '–') + (contextWindow ? ` · ${formatShort(contextWindow)} context` : '');
}

const formatDefined = (value: number | undefined, format: (value: number) => string) =>
  value === undefined ? '–' : format(value);

export function readFigures(one: SessionFacts, other: SessionFacts): Figure[] {
  // A session without calls is quick and has no failures, so it must not count as better.
  const isJudged = [one, other].every(({ summary }) => summary.toolCalls > 0);
  return FIGURES.map(([name, read, show, best]) => {
    const better = isJudged && best ? betterOf(read(one), read(other), best) : undefined;
    return { name, one: show(one), other: show(other), ...(better && { better }) };
  });
}

function betterOf(one: number | undefined, other: number | undefined, best: 'less' | 'more'): Figure['better'] {
  if (one === undefined || other === undefined || one === other) return undefined;
  return one < other === (best === 'less') ? 'one' : 'other';
}

type File = SessionFacts['files'][number];

/** A file that one or both sessions changed. */
export interface JoinedFile {
  path: string;
  one?: File;
  other?: File;
}

/** Joins files by their path in the folders of the sessions. Files that both sessions changed come first. */
export function joinFiles(one: SessionFacts, other: SessionFacts): JoinedFile[] {
  const joined = new Map<string, JoinedFile>();
  for (const [side, { files, folder }] of [['one', one] as const, ['other', other] as const]) {
    for (const file of files) {
      const path = relativePath(file.path, folder);
      joined.set(path, { ...joined.get(path), path, [side]: file });
    }
  }
  const isShared = ({ one, other }: JoinedFile) => Number(one !== undefined && other !== undefined);
  return [...joined.values()].sort((a, b) => isShared(b) - isShared(a) || (a.path < b.path ? -1 : 1));
}
