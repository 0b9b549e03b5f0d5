import { statSync } from 'node:fs';
import { defineCommand, flag, texts } from '../command.ts';
import { readSettings, requireSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import type { AgentHooks } from '../hooks/agent-hooks.ts';
import { AGENT_HOOKS } from '../hooks/all.ts';
import { findOthers, type OtherInstallation } from '../hooks/others.ts';
import { quoteForShell } from '../hooks/shell.ts';
import { formatCount, type Output } from '../output.ts';
import { type Asker, createAsker } from '../setup/ask.ts';
import { carryOut } from '../setup/carry-out.ts';
import type { DaemonPlan } from '../setup/daemon.ts';
import { findAgents } from '../setup/found.ts';
import { changesOf, describePreview, preview } from '../setup/preview.ts';
import { reportOf } from '../setup/report.ts';
import { findPasswords } from '../setup/variables.ts';

export interface InitOptions {
  yes: boolean;
  dryRun: boolean;
  agents: string[];
  /** False with `--no-daemon`. */
  daemon: boolean;
  /** False with `--no-trust`. */
  trust: boolean;
}

export const initCommand = defineCommand({
  name: 'init',
  summary: "set this machine up: hooks in the agents' settings, and a daemon",
  description:
    'Finds the agents on this machine, shows every change it would make to their settings, and asks. Then it registers ' +
    'the machine, installs the hooks, and sets up the daemon. It may be run again; `capture uninstall` undoes it.',
  examples: [
    ['capture init', 'shows every change, and asks'],
    ['capture init --dry-run', 'shows them only'],
    ['capture init --yes --agent codex', 'for one agent, without asking'],
  ],
  options: {
    yes: flag('--yes', 'do not ask: neither for the changes, nor for having Codex trust the hooks'),
    dryRun: flag('--dry-run', 'show what it would change, and change nothing'),
    agents: texts('--agent <id>', 'only this agent, e.g. claude-code; may be given several times'),
    daemon: flag('--no-daemon', 'set no daemon up'),
    trust: flag('--no-trust', 'do not have Codex trust the hooks: use /hooks there'),
  },
  run: runInit,
});

export async function runInit(context: Context, options: InitOptions, output: Output): Promise<void> {
  const settings = options.dryRun ? undefined : requireSettings(context);
  if (!options.dryRun && !options.yes && !context.stdin.isTTY) {
    throw new Failure(EXIT.usage, 'There is no terminal to ask on.', 'Give --yes, or --dry-run to see the changes.');
  }
  output.say('Looking for agents …');
  const agents = await findAgents(context, chooseRows(options.agents));
  const chosen = agents.filter(({ isFound }) => isFound || options.agents.length > 0);
  const planned = await preview(context, chosen, options);
  const other = findOthers(context, AGENT_HOOKS)[0];
  if (other) throw refuseSecond(context, other);
  refuseOpenFolder(context);
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

/** Both would capture every session, each for itself. */
function refuseSecond(context: Context, { path, state }: OtherInstallation): Failure {
  const undo =
    context.platform === 'win32'
      ? `set CAPTURE_HOME=${state}&& capture`
      : `CAPTURE_HOME=${quoteForShell(state)} capture`;
  return new Failure(
    EXIT.failure,
    `${path} runs hooks of another installation of capture, whose folder is ${state}; this one's is ${stateFolder(context)}.`,
    `Two would capture every session twice. Undo the other one first: \`${undo} uninstall\`.`,
  );
}

/** Who may write there chooses what the hooks run. */
function refuseOpenFolder(context: Context): void {
  const state = stateFolder(context);
  const mode = statSync(state, { throwIfNoEntry: false })?.mode ?? 0;
  if (context.platform === 'win32' || (mode & 0o022) === 0) return;
  throw new Failure(
    EXIT.failure,
    `Others may write to ${state}, and could have the agents run what they like.`,
    `Close it to them, \`chmod go-w ${quoteForShell(state)}\`, or set CAPTURE_HOME to another folder.`,
  );
}

function chooseRows(ids: readonly string[]): readonly AgentHooks[] {
  const unknown = ids.find((id) => !AGENT_HOOKS.some((row) => row.id === id));
  if (unknown !== undefined) {
    const known = AGENT_HOOKS.map(({ id }) => id).join(', ');
    throw new Failure(EXIT.usage, `No agent is called ${unknown}.`, `Known agents: ${known}.`);
  }
  return AGENT_HOOKS.filter(({ id }) => ids.length === 0 || ids.includes(id));
}

function isWanted(changes: number, state: string, asker: Asker | undefined): Promise<boolean> | boolean {
  if (asker === undefined) return true;
  const what = changes === 0 ? 'No other file changes. Go on?' : `Change ${formatCount(changes, 'file')} as shown?`;
  return asker.ask(`capture keeps its own files in ${state}. ${what}`);
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
