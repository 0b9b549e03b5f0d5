import type { Command } from 'commander';
import { readSettings, requireSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { withExamples } from '../help/examples.ts';
import type { AgentHooks } from '../hooks/agent-hooks.ts';
import { AGENT_HOOKS } from '../hooks/all.ts';
import { formatCount, type Output } from '../output.ts';
import { type Asker, createAsker } from '../setup/ask.ts';
import { carryOut } from '../setup/carry-out.ts';
import type { DaemonPlan } from '../setup/daemon.ts';
import { findAgents } from '../setup/found.ts';
import { changesOf, describePreview, preview } from '../setup/preview.ts';
import { reportOf } from '../setup/report.ts';
import { findPasswords } from '../setup/variables.ts';

export interface InitOptions {
  yes?: boolean;
  dryRun?: boolean;
  agent?: string[];
  /** False with `--no-daemon`. */
  daemon: boolean;
  /** False with `--no-trust`. */
  trust: boolean;
}

export function addInit(program: Command, run: (options: InitOptions) => Promise<void>): void {
  withExamples(program.command('init'), [
    ['capture init', 'shows every change, and asks'],
    ['capture init --dry-run', 'shows them only'],
    ['capture init --yes --agent codex', 'for one agent, without asking'],
  ])
    .summary("set this machine up: hooks in the agents' settings, and a daemon")
    .description(
      'Finds the agents on this machine, shows every change it would make to their settings, and asks. Then it registers ' +
        'the machine, installs the hooks, and sets up the daemon. It may be run again; `capture uninstall` undoes it.',
    )
    .option('--yes', 'do not ask: neither for the changes, nor for having Codex trust the hooks')
    .option('--dry-run', 'show what it would change, and change nothing')
    .option('--agent <id>', 'only this agent, e.g. claude-code; may be given several times', collect)
    .option('--no-daemon', 'set no daemon up')
    .option('--no-trust', 'do not have Codex trust the hooks: use /hooks there')
    .action(run);
}

const collect = (id: string, ids: string[] = []): string[] => [...ids, id];

export async function runInit(context: Context, options: InitOptions, output: Output): Promise<void> {
  const settings = options.dryRun ? undefined : requireSettings(context);
  if (!options.dryRun && !options.yes && !context.stdin.isTTY) {
    throw new Failure(EXIT.usage, 'There is no terminal to ask on.', 'Give --yes, or --dry-run to see the changes.');
  }
  output.say('Looking for agents …');
  const agents = await findAgents(context, chooseRows(options.agent));
  const chosen = agents.filter(({ isFound }) => isFound || options.agent !== undefined);
  const planned = await preview(context, chosen, options);
  if (settings === undefined) return output.answer(reportOf(planned), describePreview(planned));
  for (const line of describePreview(planned)) output.say(line);
  warnOfVariables(context, planned.daemon, output);

  const asker = options.yes ? undefined : createAsker(context);
  try {
    if (!(await isWanted(changesOf(planned).length, stateFolder(context), asker))) {
      throw new Failure(EXIT.failure, 'Nothing was changed.', 'Run `capture init` again when you want to.');
    }
    const trust = options.trust ? { ask: asker?.ask } : undefined;
    const done = await carryOut(context, { settings, planned, trust }, output);
    output.answer(reportOf(planned, done), done.lines);
    if (done.failures > 0) {
      throw new Failure(EXIT.failure, `${formatCount(done.failures, 'step')} failed.`, 'The rest was done.');
    }
  } finally {
    asker?.close();
  }
}

function chooseRows(ids: readonly string[] | undefined): readonly AgentHooks[] {
  const unknown = ids?.find((id) => !AGENT_HOOKS.some((row) => row.id === id));
  if (unknown !== undefined) {
    const known = AGENT_HOOKS.map(({ id }) => id).join(', ');
    throw new Failure(EXIT.usage, `No agent is called ${unknown}.`, `Known agents: ${known}.`);
  }
  return AGENT_HOOKS.filter(({ id }) => ids === undefined || ids.includes(id));
}

function isWanted(changes: number, state: string, asker: Asker | undefined): Promise<boolean> | boolean {
  if (asker === undefined) return true;
  const what = changes === 0 ? 'No other file changes.' : `Change ${formatCount(changes, 'file')} as shown?`;
  return asker.ask(`capture keeps its own files in ${state}. ${what} Go on?`);
}

/** A daemon does not see the variables of this shell. */
function warnOfVariables(context: Context, { starter, supervisor }: DaemonPlan, output: Output): void {
  const stored = readSettings({ ...context, variables: { ...context.variables, CAPTURE_SECRET: undefined } });
  if (starter !== 'none' && stored.secret === undefined) {
    output.warn('CAPTURE_SECRET is set in this shell only. Run `capture login`, so that the daemon can send too.');
  }
  const names = findPasswords(context.variables).join(' and ');
  if (starter === 'none' || starter === 'hook' || names === '') return;
  output.warn(
    `${names} holds a password, which is not handed to ${supervisor?.name}. If the service is behind that proxy, give ` +
      'the daemon an address without one, or start `capture run` yourself.',
  );
}
