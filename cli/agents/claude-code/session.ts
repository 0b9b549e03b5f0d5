import type { RecordPlace } from '../agent.ts';
import { type Draft, draft, type Fields } from '../compose.ts';
import { type Path, peek, type Remainder, take } from '../remainder.ts';
import { peekText, takeFirstText, takeText } from '../typed.ts';

type Reader = (remainder: Remainder) => Draft[];

type Facts = Fields<'session.meta'>;

const meta =
  (paths: { [Fact in Exclude<keyof Facts, 'titleBy'>]?: Path }, titleBy?: Facts['titleBy']): Reader =>
  (remainder) => {
    const taken = Object.entries(paths).map(([fact, path]) => [fact, takeText(remainder, ...path)]);
    return [draft('session.meta', { ...Object.fromEntries(taken), titleBy })];
  };

const notice =
  (...texts: Path[]): Reader =>
  (remainder) => [draft('notice', { text: takeFirstText(remainder, ...texts), kind: peekText(remainder, 'type') })];

/** The kinds of records that belong to no conversation chain. */
export const SESSION_KINDS: readonly (readonly [type: string, Reader])[] = [
  ['custom-title', meta({ title: ['customTitle'] }, 'person')],
  ['ai-title', meta({ title: ['aiTitle'] }, 'agent')],
  ['agent-name', meta({})],
  ['pr-link', meta({ repository: ['prRepository'] })],
  ['mode', meta({})],
  ['permission-mode', meta({})],
  ['last-prompt', meta({})],
  ['bridge-session', meta({})],
  ['worktree-state', meta({ cwd: ['worktreeSession', 'worktreePath'], branch: ['worktreeSession', 'worktreeBranch'] })],
  ['relocated', meta({ cwd: ['relocatedCwd'] })],
  // Titles of other sessions of the project: `leafUuid` points into their files, so it must not title this one.
  ['summary', notice(['summary'])],
  ['queue-operation', notice(['content'])],
  ['frame-link', notice(['title'])],
  // The journal of a workflow.
  ['started', readStarted],
  ['result', readFinished],
];

function readStarted(remainder: Remainder): Draft[] {
  const subagent = takeText(remainder, 'agentId');
  if (subagent === undefined) return [];
  return [draft('subagent.started', { subagent })];
}

function readFinished(remainder: Remainder): Draft[] {
  const subagent = takeText(remainder, 'agentId');
  if (subagent === undefined) return [];
  return [draft('subagent.finished', { subagent, result: take(remainder, 'result') })];
}

/** The first record of a chain also says where the work goes on; every later one repeats it, and is not asked. */
export function readRoot(remainder: Remainder, place: RecordPlace): Draft[] {
  // Up to 1.0 a sub-agent's chain stood in the session's own file.
  if (peek(remainder, 'isSidechain') === true && place.origin.subagent === undefined) return [];
  const cwd = takeText(remainder, 'cwd');
  const branch = peekText(remainder, 'gitBranch') ? takeText(remainder, 'gitBranch') : undefined;
  return cwd === undefined && branch === undefined ? [] : [draft('session.meta', { cwd, branch })];
}
