import { defineCommand, flag, texts } from '../command.ts';
import { requireSettings, type Settings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatCount, type Output } from '../output.ts';
import { type Asker, createAsker } from '../setup/ask.ts';
import { carryOut, type Decisions, type Done, describeDone } from '../setup/carry-out.ts';
import { readStarter } from '../setup/daemon.ts';
import { askChoice, type Choice, countChosen, describeHistory, parseChoice } from '../setup/history.ts';
import { describePlan, findWarnings, namesOf, type Plan, planSetup } from '../setup/plan.ts';
import { lastingProgram } from '../setup/program.ts';
import { refuseOpenFolder, takeSetup } from '../setup/state-folder.ts';

export interface InitOptions {
  yes: boolean;
  dryRun: boolean;
  history: string[];
  /** False with `--no-daemon`. */
  daemon: boolean;
  /** False with `--no-hooks`. */
  hooks: boolean;
  startHook: boolean;
}

export const initCommand = defineCommand({
  name: 'init',
  summary: 'set this machine up, and start to capture',
  description:
    'Finds the agents on this machine, says what it is about to do, and asks, also whether sessions from before may be ' +
    'sent. Then it registers the machine and has capture run from now on. It may be run again; `capture uninstall` undoes it.',
  examples: [
    ['capture init', 'says what it would do, and asks'],
    ['capture init --dry-run', 'says it only'],
    ['capture init --yes', 'without asking; earlier sessions stay here'],
    ['capture init --yes --history ~/work', 'and sends those of a folder'],
  ],
  options: {
    yes: flag('--yes', 'do not ask'),
    dryRun: flag('--dry-run', 'say what it would do, and do nothing'),
    history: texts(
      '--history <which>',
      'earlier sessions to send: all, none (as without a terminal), or a folder; folders may be given several times',
    ),
    daemon: flag('--no-daemon', 'start nothing: capture by `capture run` alone'),
    hooks: flag('--no-hooks', 'change nothing in the settings of any agent'),
    startHook: flag('--start-hook', 'where nothing of the system does, have an agent start capture by a hook'),
  },
  run: runInit,
});

export async function runInit(context: Context, options: InitOptions, output: Output): Promise<void> {
  const settings = options.dryRun ? undefined : requireSettings(context);
  if (!options.dryRun && !options.yes && !context.stdin.isTTY) {
    throw new Failure(EXIT.usage, 'There is no terminal to ask on.', 'Give --yes, or --dry-run to see what it does.');
  }
  const choice = options.history.length > 0 ? parseChoice(options.history, context) : undefined;
  refuseOpenFolder(context);
  const lasting = options.daemon ? { ...context, program: lastingProgram(context) } : context;
  output.say('Looking for agents …');
  const plan = await planSetup(lasting, { ...options, isHistoryAsked: choice !== undefined });
  if (settings === undefined) return rehearse(lasting, plan, choice, output);
  if (plan.isDone && !options.startHook) return sayDone(context, plan, output);
  for (const line of describePlan(lasting, plan)) output.say(line);
  for (const warning of findWarnings(lasting, plan)) output.warn(warning);
  const done = await decideAndDo(lasting, { settings, plan, choice, options }, output);
  if (done === undefined) return;
  output.answer(done.report, describeDone(lasting, plan, done));
  if (done.failures.length > 0) {
    throw new Failure(EXIT.failure, `${formatCount(done.failures.length, 'step')} failed.`, 'The rest was done.');
  }
}

interface Work {
  settings: Settings;
  plan: Plan;
  choice: Choice | undefined;
  options: InitOptions;
}

async function decideAndDo(context: Context, work: Work, output: Output): Promise<Done | undefined> {
  const asker = work.options.yes ? undefined : createAsker(context);
  try {
    if (asker && !(await asker.ask('Go on?'))) throw declined();
    const decisions = await decide(context, work, asker, output);
    const lock = takeSetup(context);
    return await carryOut(context, work, decisions, output).finally(lock.release);
  } finally {
    asker?.close();
  }
}

/** Like `gh`: a no is no failure of the command, and yet it was not done. */
const declined = () => new Failure(EXIT.usage, 'Nothing was changed.');

async function decide(
  context: Context,
  { plan, choice, options }: Work,
  asker: Asker | undefined,
  output: Output,
): Promise<Decisions> {
  const { history, startHook } = plan;
  const isAsked = choice === undefined && history !== undefined && history.sessions.length > 0;
  const chosen = isAsked && asker ? await askChoice(history, asker, context, output.say) : choice;
  const question =
    startHook &&
    `Nothing here starts capture again after this machine was restarted. May ${startHook.agent.displayName} do so when a ` +
      'session begins, by a hook in its settings?';
  const isThere = readStarter(stateFolder(context)) === 'hook';
  const isWanted = options.startHook || isThere || (question !== undefined && (await asker?.ask(question)) === true);
  return { history: chosen ?? (history ? 'none' : undefined), startHook: isWanted };
}

function rehearse(context: Context, plan: Plan, choice: Choice | undefined, output: Output): void {
  const { agents, hooks, daemon, history } = plan;
  const files = [...hooks.map(({ edited }) => edited), ...(daemon?.file ? [daemon.file] : [])];
  const report = {
    dryRun: true,
    agents: agents.map(({ agent, program }) => ({ agent: agent.id, name: agent.displayName, program })),
    files: files.map(({ path, change }) => ({ path, change })),
    daemon: { starter: daemon?.supervisor?.kind ?? (daemon ? 'process' : 'none') },
    ...(history && {
      history: {
        sessions: history.sessions.length,
        bytes: history.bytes,
        folders: [...new Set(history.sessions.map(({ folder }) => folder))],
        chosen: countChosen(history, choice ?? 'none'),
      },
    }),
  };
  const earlier = history && history.sessions.length > 0 ? [`${describeHistory(history)}.`] : [];
  output.answer(report, [...describePlan(context, plan), ...earlier, 'Nothing was changed.']);
}

function sayDone(context: Context, plan: Plan, output: Output): void {
  const starter = readStarter(stateFolder(context));
  output.answer({ already: true, daemon: { starter, running: true } }, [
    `This machine is set up already: capture runs. Agents here: ${namesOf(plan.agents)}.`,
    '`capture status` shows how it goes, `capture init --history all` sends earlier sessions, too.',
  ]);
}
