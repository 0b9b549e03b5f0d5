import { EXIT, Failure } from '../failure.ts';
import { formatCount, type Output } from '../output.ts';
import { type Counts, type Finding, type Findings, PROBLEMS, type Problem } from './findings.ts';

/** Prints what was found. Throws the failure that the command ends with where something is wrong. */
export function reportFindings(findings: Findings, output: Output): void {
  const { counts, problems, list } = findings;
  const total = findings.total();
  const left = total - list.length;
  output.answer({ ...counts, problems, findings: list, ...(left > 0 && { findingsLeftOut: left }) }, [
    ...list.map(describeFinding),
    ...(left > 0 ? [`… and ${formatCount(left, 'more event', 'more events')}`] : []),
    ...NOTES.flatMap(([what, say]) => (counts[what] > 0 ? [say(counts[what])] : [])),
    summarize(findings),
  ]);
  if (total === 0) return;
  throw new Failure(
    EXIT.failure,
    `Of ${formatCount(total, 'event')} the service does not hold what the transcripts say.`,
    'The transcripts still have it. `--json` tells every place; docs/verify.md tells what to do.',
  );
}

function summarize({ counts, problems, total }: Findings): string {
  if (counts.sessions === 0) return 'No session was captured that this could be about.';
  const said = total() === 0 ? 'all there' : describeProblems(problems);
  return `${formatCount(counts.records, 'record')} of ${formatCount(counts.sessions, 'session')}: ${said}`;
}

function describeFinding({ problem, agent, session, file, position, eventType, ...more }: Finding): string {
  const where = file === undefined ? '' : `  ${file}${position === undefined ? '' : `:${position}`}`;
  const part = more.part === undefined ? '' : ` (part ${more.part})`;
  const held = more.serviceSession === undefined ? '' : `  ${more.serviceSession} #${more.sequence}`;
  const leaves = more.leaves === undefined ? '' : `  ${more.leaves.join(', ')}`;
  return `${problem.padEnd(10)}  ${agent} ${session}${where}${held}  ${eventType}${part}${leaves}`;
}

const describeProblems = (problems: Record<Problem, number>): string =>
  Object.entries(PROBLEMS)
    .flatMap(([problem, words]) => {
      const count = problems[problem as Problem];
      return count > 0 ? [`${formatCount(count, 'event')} ${words}`] : [];
    })
    .join(', ');

/** What is no fault, and worth knowing. */
const NOTES: readonly (readonly [keyof Counts, (count: number) => string])[] = [
  ['replayed', (count) => `${formatCount(count, 'record')} that forks repeat: held in the session they came from.`],
  ['waiting', (count) => `${formatCount(count, 'record')} waiting to be captured or sent.`],
  [
    'setAside',
    (count) => `${formatCount(count, 'record')} set aside, since the service refused them: see \`capture status\`.`,
  ],
  ['leftOut', (count) => `${formatCount(count, 'record')} left out, as was asked for.`],
  ['masked', (count) => `${formatCount(count, 'event')} masked differently: other secrets were known then.`],
  [
    'renamed',
    (count) =>
      `${formatCount(count, 'record')} under other names, given by another version of capture: every value is there.`,
  ],
  ['history', (count) => `${formatCount(count, 'event')} of what transcripts said before they were rewritten.`],
  ['deletedFiles', (count) => `${formatCount(count, 'transcript')} cannot be verified: the agent deleted the file.`],
  ['unverifiable', (count) => `${formatCount(count, 'event')} cannot be verified: their transcript was deleted.`],
  ['newFiles', (count) => `${formatCount(count, 'transcript')} not captured yet: \`capture import\` does it.`],
];
