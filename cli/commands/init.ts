import { formatCount } from '../../contract/count.ts';
import { defineCommand, flag, texts } from '../command.ts';
import { requireSettings, type Settings } from '../config.ts';
import type { Context } from '../context.ts';
import { Declined, EXIT, Failure } from '../failure.ts';
import type { Output } from '../output.ts';
import { readConsent } from '../privacy/consent.ts';
import { createAsker } from '../prompt.ts';
import { carryOut, type Done, describeDone } from '../setup/carry-out.ts';
import {
  askChoice,
  countChosen,
  describeHistory,
  findStrange,
  type HistoryChoice,
  parseChoice,
} from '../setup/history.ts';
import { describePlan, findWarnings, type Plan, planSetup } from '../setup/plan.ts';
import { lastingProgram } from '../setup/program.ts';
import { refuseOpenFolder } from '../setup/state-folder.ts';

export const initCommand = defineCommand({
  name: 'init',
  summary: 'set this machine up, and start capturing',
  description:
    'Finds the agents on this machine, shows what it will do, and asks you to confirm. Also asks which earlier sessions to ' +
    'send. Then it registers the machine and keeps capture running. You can run it again. `capture uninstall` undoes it.',
  examples: [
    ['capture init', 'shows what it will do, and asks'],
    ['capture init --dry-run', 'only shows it'],
    ['capture init --yes', 'does not ask; earlier sessions stay here'],
    ['capture init --yes --history ~/work', 'also sends the earlier sessions of a folder'],
  ],
  takes: {
    yes: flag('--yes', 'do not ask'),
    dryRun: flag('--dry-run', 'show what it would do, and do nothing'),
    history: texts('--history <which>', 'earlier sessions to send: all, none (the default), or one or more folders'),
    daemon: flag('--no-daemon', 'do not start capturing; you run `capture run` yourself'),
    hooks: flag('--no-hooks', 'change nothing in the settings of any agent'),
  },
  async run(context, options, output) {
    const settings = options.dryRun ? undefined : requireSettings(context);
    if (!options.dryRun && !options.yes && !context.stdin.isTTY) {
      throw new Failure(EXIT.usage, 'There is no terminal to ask on.', 'Use --yes, or --dry-run to preview the steps.');
    }
    const choice = options.history.length > 0 ? parseChoice(options.history, context) : undefined;
    refuseOpenFolder(context);
    const lasting = options.daemon ? { ...context, program: lastingProgram(context) } : context;
    output.say('Looking for agents …');
    const plan = planSetup(lasting, { ...options, isHistoryAsked: choice !== undefined });
    for (const folder of findStrange(plan.history, choice)) {
      output.warn(`No earlier session was in ${folder}, so --history sends nothing from there. Check the path.`);
    }
    if (settings === undefined) {
      const earlier = plan.history?.sessions.length ? [`${describeHistory(plan.history)}.`] : [];
      const lines = [...describePlan(lasting, plan), ...earlier, 'Nothing was changed.'];
      return output.answer(reportOf(context, plan, choice), lines);
    }
    for (const line of describePlan(lasting, plan)) output.say(line);
    for (const warning of findWarnings(lasting, plan)) output.warn(warning);
    const asker = options.yes ? undefined : createAsker(context);
    try {
      if (asker && !(await asker.ask('Continue?'))) throw new Declined(UNCHANGED);
      const history = plan.history && (choice ?? (await askChoice(plan.history, asker, context, output.say)));
      if (context.stop.aborted) throw new Declined(UNCHANGED);
      await setUp(lasting, settings, plan, history, output);
    } finally {
      asker?.close();
    }
  },
});

const UNCHANGED = 'Nothing was changed. `capture init` asks again.';

async function setUp(
  context: Context,
  settings: Settings,
  plan: Plan,
  history: HistoryChoice | undefined,
  output: Output,
) {
  const done = await carryOut(context, settings, plan, history, output);
  output.answer(reportOf(context, plan, history, done), describeDone(context, plan, history, done));
  const left = done.edited.filter(({ change }) => change === 'left').length;
  const failures = done.daemon?.running === false ? left + 1 : left;
  if (failures > 0)
    throw new Failure(EXIT.failure, `${formatCount(failures, 'step')} failed.`, 'The other steps were done.');
}

/** The answer of `--json`, before and after the plan is carried out. */
function reportOf(context: Context, plan: Plan, choice: HistoryChoice | undefined, done?: Done): object {
  const { agents, hooks, daemon, supervisor, history } = plan;
  const planned = daemon ? { starter: supervisor?.name ?? 'process' } : undefined;
  return {
    dryRun: done === undefined,
    agents: agents.map(({ id, displayName }) => ({ agent: id, name: displayName })),
    files: (done?.edited ?? hooks.map(({ edited }) => edited)).map(({ path, change }) => ({ path, change })),
    daemon: done ? done.daemon : planned,
    history: {
      choice: choice ?? readConsent(context)?.history ?? 'none',
      ...(history && { sessions: history.sessions.length, bytes: history.bytes }),
      ...(history && { chosen: countChosen(history, choice ?? 'none') }),
    },
    ...(done && { registered: done.environmentId !== undefined, environmentId: done.environmentId }),
  };
}
