import { join } from 'node:path';
import { formatCount } from '../../contract/count.ts';
import { defineCommand, flag, text, texts } from '../command.ts';
import { requireSettings } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatAge, type Output, type OutputLine } from '../output.ts';
import { tilde } from '../paths.ts';
import { confirm } from '../prompt.ts';
import { recoverPrompts } from '../recover/prompts.ts';
import { type RecoveredFile, type RecoveredSession, recoverSession } from '../recover/recover.ts';
import { createSessionReader } from '../recover/service-events.ts';
import {
  CHOICE_OPTIONS,
  chooseSessions,
  requireAgents,
  SESSION_NAMES,
  type SessionFilter,
  withSpool,
} from '../sessions/choose.ts';
import { findGone, type GoneSession } from '../sessions/gone.ts';
import { signInToRead } from '../setup/device-sign-in.ts';
import type { Spool } from '../spool/open.ts';

export const recoverCommand = defineCommand({
  name: 'recover',
  summary: 'write transcripts again that were deleted',
  description:
    'Writes the transcripts of captured sessions again that an agent or a person has deleted on this machine: under their names, ' +
    'where the agent looks for them, with the values that were captured. Masked texts stay masked. It never writes over a file. ' +
    'You confirm in the dashboard that this machine may read your sessions for 15 minutes. Without a session, it lists what is gone and asks.',
  examples: [
    ['capture recover', 'lists what is gone, and asks'],
    ['capture recover 0199a213', 'one session'],
    ['capture recover --dry-run', 'only lists what is gone'],
    ['capture recover --prompts', 'prompts that Claude Code and Codex remember of other sessions'],
    ['capture recover 0199a213 --to DIR', 'writes copies into a folder, also of sessions in databases'],
  ],
  takes: {
    sessions: texts('[SESSION...]', `${SESSION_NAMES}; all that are gone by default`),
    ...CHOICE_OPTIONS,
    dryRun: flag('--dry-run', 'only list what would be written'),
    to: text('--to <folder>', 'write copies into this folder, and nothing where the agents look'),
    prompts: flag('--prompts', 'prompts of sessions that were deleted before capture read them'),
  },
  async run(context, { dryRun, to, prompts, ...filter }, output) {
    return withSpool(context, async (spool): Promise<number> => {
      if (prompts) return recoverAllPrompts(context, spool, filter, dryRun, output);
      const chosen = chooseSessions(context, spool, filter);
      const gone = to === undefined ? findGone(context, spool, chosen) : toCopy(chosen);
      const isAsking = filter.sessions.length === 0 && !output.json && to === undefined;
      if (dryRun || gone.length === 0 || (isAsking && !context.stdin.isTTY)) {
        output.answer({ gone: gone.map(toReport) }, describeGone(context, gone));
        return EXIT.ok;
      }
      if (isAsking) {
        const question = `Write ${formatCount(gone.length, 'session')} again?`;
        await confirm(context, output, { lines: describeGone(context, gone).map(toText), question });
      }
      return recoverAll(context, spool, gone, to, output);
    });
  },
});

function recoverAllPrompts(
  context: Context,
  spool: Spool,
  { agent, sessions, since }: SessionFilter,
  isDryRun: boolean,
  output: Output,
) {
  if (sessions.length > 0 || since !== undefined) {
    throw new Failure(EXIT.usage, '--prompts takes no session and no time.', 'Limit it with --agent.');
  }
  const found = recoverPrompts(context, spool, requireAgents(context, agent), isDryRun);
  const { written, prompts, exists, present, keptBack } = found;
  const others = [
    ...(present > 0 ? [`${formatCount(present, 'session')} left out: the transcript is here, or capture has it.`] : []),
    ...(keptBack > 0 ? [`${formatCount(keptBack, 'session')} left out, as you decided about them.`] : []),
    ...(exists > 0 ? [`${formatCount(exists, 'session')} came back before.`] : []),
  ];
  const verb = isDryRun ? 'would come back' : 'came back';
  output.answer(found, [
    `${formatCount(prompts, 'prompt')} of ${formatCount(written, 'session')} ${verb}, as sessions of a custom agent.`,
    ...others,
    ...(written > 0 && !isDryRun
      ? ['Capture treats them like sessions from before it was set up: `capture import` sends them.']
      : []),
  ]);
  return EXIT.ok;
}

const toText = (line: OutputLine): string => (typeof line === 'string' ? line : line.slice(1).join(''));

const toCopy = (sessions: readonly GoneSession['session'][]): GoneSession[] =>
  sessions.filter(({ verdict }) => verdict === 'wanted').map((session) => ({ session, files: [], unwritable: 0 }));

async function recoverAll(
  context: Context,
  spool: Spool,
  gone: readonly GoneSession[],
  to: string | undefined,
  output: Output,
): Promise<number> {
  const { url } = requireSettings(context);
  const readSession = createSessionReader(context, url, await signInToRead(context, url));
  const recovered: RecoveredSession[] = [];
  for (const one of gone) {
    if (context.stop.aborted) throw new Failure(EXIT.failure, 'Interrupted.', 'The files written so far are complete.');
    const [agent] = requireAgents(context, one.session.agent);
    if (agent !== undefined) recovered.push(await recoverSession({ context, spool, agent, readSession, to }, one));
  }
  const files = recovered.flatMap((one) => one.files);
  const count = (state: RecoveredFile['state']) => files.filter((file) => file.state === state).length;
  const isComplete = recovered.every(({ isAtService }) => isAtService) && count('written') === files.length;
  output.answer({ recovered, written: count('written') }, [
    ...recovered.flatMap(describeRecovered),
    [isComplete ? 'green' : 'yellow', `${formatCount(count('written'), 'transcript')} written`, '.'],
  ]);
  return isComplete ? EXIT.ok : EXIT.failure;
}

const STATES: Record<RecoveredFile['state'], string> = {
  written: 'written',
  exists: 'not written: a file of this name is there',
  unsafe: 'not written: a link or another file is in the way',
  absent: 'not written: the service has no event of it',
};

function describeRecovered({ agent, session, isAtService, files }: RecoveredSession): string[] {
  if (!isAtService) return [`${agent} ${session}  the service does not have it any more, or does not show it to you`];
  return files.map(({ path, state, records, inexact, incomplete }) => {
    const doubts = [
      ...(inexact > 0 ? [`${formatCount(inexact, 'record')} not in their exact form`] : []),
      ...(incomplete > 0 ? [`${formatCount(incomplete, 'line')} too long to be captured`] : []),
    ];
    const about = state === 'written' ? [formatCount(records, 'record'), ...doubts].join(', ') : '';
    return `${agent} ${session}  ${path}  ${STATES[state]}${about && ` (${about})`}`;
  });
}

const toReport = ({ session, files, unwritable }: GoneSession) => ({
  agent: session.agent,
  session: session.agentSession,
  title: session.title ?? session.prompt ?? null,
  lastActiveAt: session.lastAt === undefined ? null : new Date(session.lastAt).toISOString(),
  files: files.map(({ root, path }) => join(root, path)),
  unwritable,
});

function describeGone(context: Context, gone: readonly GoneSession[]): OutputLine[] {
  if (gone.length === 0) return ['All captured transcripts are still on this machine.'];
  const unwritable = gone.filter((one) => one.unwritable > 0).length;
  return [
    ...gone.map(({ session, files }): OutputLine => {
      const { agent, agentSession, title, prompt, cwd, lastAt } = session;
      const age = lastAt === undefined ? '' : `  ${formatAge(context.now() - lastAt)} ago`;
      const about = (title ?? prompt ?? '').split('\n', 1)[0]?.slice(0, 60) ?? '';
      const where = cwd === undefined ? '' : `  ${tilde(cwd, context.home)}`;
      return `${agent} ${agentSession}  ${formatCount(files.length, 'file')}${age}${where}  ${about}`;
    }),
    `${formatCount(gone.length, 'captured session')} deleted on this machine. \`capture recover SESSION\` writes one again.`,
    ...(unwritable > 0
      ? [`${formatCount(unwritable, 'session')} in a form that only the agent writes: use --to FOLDER.`]
      : []),
  ];
}
