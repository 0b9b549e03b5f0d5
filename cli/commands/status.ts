import type { Command } from 'commander';
import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { withExamples } from '../help/examples.ts';
import { isLocked } from '../lock.ts';
import type { Output } from '../output.ts';
import { describeAgent, lookAtAgents } from '../status/agents.ts';
import { askService, describeService } from '../status/service.ts';
import { describeSpool, readSpool } from '../status/spool.ts';

export function addStatus(program: Command, run: (options: object) => Promise<void>): void {
  withExamples(program.command('status'), [
    ['capture status', 'for people'],
    ['capture status --json', 'for programs'],
  ])
    .summary('show what is captured, sent and waiting')
    .description('Shows where captures go, which agents were found, and what is waiting to be sent.')
    .action(run);
}

/** Shows all it knows, and fails when nobody is signed in. */
export async function runStatus(context: Context, _options: object, output: Output): Promise<void> {
  const folder = stateFolder(context);
  const settings = readSettings(context);
  const { report, account, problem } = await askService(context, settings, folder);
  const spool = readSpool(folder, settings, account);
  const agents = lookAtAgents(context, spool?.sent);
  const running = isLocked(folder, 'run');
  output.answer({ ...report, running, stateFolder: folder, agents, ...spool }, [
    ...describeService(report),
    `Daemon        ${running ? 'running' : 'not running, `capture run` starts it'}`,
    ...agents.map(describeAgent),
    ...describeSpool(spool, context.now()),
  ]);
  if (problem !== undefined) throw problem;
}
