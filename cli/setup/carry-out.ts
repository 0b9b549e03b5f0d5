import { type Settings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import { removeEarlierHooks } from '../hooks/earlier.ts';
import { type Edited, installHooks } from '../hooks/install.ts';
import { hookScript, startScript, writeScript } from '../hooks/script.ts';
import { importAll } from '../import/capture.ts';
import { formatCount, type Output } from '../output.ts';
import { writeConsent } from '../privacy/consent.ts';
import { ownPlaces } from '../read/places.ts';
import { note, readStarter, type Starter, startDaemon } from './daemon.ts';
import { type Choice, countChosen, tilde } from './history.ts';
import { namesOf, type Plan } from './plan.ts';
import { register } from './register.ts';
import { variablesForDaemon } from './variables.ts';

export interface Decisions {
  /** Which earlier sessions are sent; undefined where that stays as it was decided. */
  history: Choice | undefined;
  /** Whether an agent's hook may start the daemon. */
  startHook: boolean;
}

export interface Done {
  report: object;
  starter: Starter;
  isRunning: boolean;
  isRegistered: boolean;
  edited: Edited[];
  history: Choice | undefined;
  failures: string[];
}

/** Does what was agreed to. What fails is told, and keeps nothing else from being done. */
export async function carryOut(
  context: Context,
  { settings, plan }: { settings: Settings; plan: Plan },
  decisions: Decisions,
  output: Output,
): Promise<Done> {
  const registered = await register(context, settings, plan.agents);
  for (const trouble of registered?.troubles ?? []) output.warn(trouble);
  if (decisions.history !== undefined) {
    writeConsent(context, { since: plan.consent?.since ?? context.now(), history: decisions.history });
  }
  const removed = removeEarlierHooks(context);
  const installed = await install(context, plan, decisions, output);
  const { starter, isRunning } = await start(context, plan, decisions);
  const edited = [...removed, ...installed];
  const failures = edited.filter(({ change }) => change === 'left').map(({ path, reason }) => `${path}: ${reason}`);
  if (plan.daemon && !isRunning) failures.push('The daemon does not run.');
  for (const failure of failures) output.warn(failure);
  return {
    ...{ starter, isRunning, isRegistered: registered !== undefined, edited, failures },
    history: decisions.history,
    report: {
      dryRun: false,
      agents: plan.agents.map(({ agent, program }) => ({ agent: agent.id, name: agent.displayName, program })),
      files: edited.map(({ path, change, reason }) => ({ path, change, reason })),
      daemon: { starter, running: isRunning },
      history: decisions.history ?? plan.consent?.history,
      registered: registered !== undefined,
      ...(registered && { environmentId: registered.environmentId }),
    },
  };
}

async function install(context: Context, plan: Plan, decisions: Decisions, output: Output): Promise<Edited[]> {
  const wanted = plan.hooks.map((each) => each.wanted);
  if (wanted.length > 0) writeScript(context, hookScript(context), 'hook');
  const isNew = plan.hooks.some(({ edited }) => ['edited', 'created'].includes(edited.change));
  if (isNew && decisions.history === 'all') await captureBefore(context, plan, output);
  const start = decisions.startHook ? plan.startHook : undefined;
  if (start) writeScript(context, startScript(context, variablesForDaemon(context.variables)), 'start');
  return [...wanted, ...(start ? [start] : [])].map((each) => installHooks(context, each));
}

const PATIENCE_MS = 10_000;

/** What the hooks cannot tell any more: of a conversation that goes on with them, the transcript counts no longer. */
async function captureBefore(context: Context, { hooks }: Plan, output: Output): Promise<void> {
  const agents = hooks.map(({ wanted }) => wanted.agent);
  const places = ownPlaces({ ...context, agents });
  output.say(`Capturing what ${agents.map(({ displayName }) => displayName).join(' and ')} has written so far …`);
  try {
    // Its answer is not that of `capture init`.
    await importAll(context, { places, onTrouble: () => {}, patienceMs: PATIENCE_MS }, { ...output, answer() {} });
  } catch (error) {
    if (context.stop.aborted) throw error;
    output.warn(`It was not captured, and \`capture import\` may still do so: ${describe(error)}`);
  }
}

async function start(context: Context, { daemon, startHook }: Plan, decisions: Decisions) {
  const earlier = readStarter(stateFolder(context)) ?? 'none';
  if (daemon === undefined) return { starter: note(context, earlier), isRunning: false };
  const { starter, isRunning } = await startDaemon(context, daemon);
  const isHooked = starter === 'process' && startHook !== undefined && (decisions.startHook || earlier === 'hook');
  return { starter: isHooked ? note(context, 'hook') : starter, isRunning };
}

/** What was done, in as few lines as it takes. */
export function describeDone(context: Context, plan: Plan, done: Done): string[] {
  const { starter, isRunning, isRegistered, edited, history } = done;
  const changed = edited.filter(({ change }) => change !== 'none' && change !== 'left');
  const files = changed.map(({ path }) => tilde(path, context.home));
  return [
    isRegistered
      ? `Registered ${context.hostname}. Agents here: ${namesOf(plan.agents)}.`
      : 'The service cannot be reached now. This machine is registered when it first sends.',
    files.length > 0
      ? `Changed in your agents: ${files.join(', ')}; \`capture uninstall\` undoes it.`
      : 'Nothing in your agents was changed.',
    ...describeChoice(plan, history),
    ...(plan.daemon ? [isRunning ? RUNNING[starter] : 'The daemon did not start: `capture logs` may say why.'] : []),
    plan.daemon
      ? 'Next: open an agent and work; `capture status` shows how it goes, `capture open` the session.'
      : 'Next: `capture run` captures while it runs, `capture status` shows how it goes.',
  ];
}

const RUNNING: { readonly [starter in Starter]: string } = {
  systemd: 'capture runs. systemd starts it again whenever you sign in.',
  launchd: 'capture runs. launchd starts it again whenever you sign in.',
  task: 'capture runs. A scheduled task starts it again whenever you sign in.',
  hook: 'capture runs. After a restart of this machine it is started again when a session of that agent begins.',
  process: 'capture runs. Nothing starts it again after a restart of this machine: run `capture init` again then.',
  none: 'capture runs.',
};

function describeChoice({ history }: Plan, choice: Choice | undefined): string[] {
  if (history === undefined || choice === undefined) return [];
  const all = history.sessions.length;
  const chosen = countChosen(history, choice);
  if (all === 0) return ['There are no earlier sessions.'];
  if (chosen === 0)
    return [`${formatCount(all, 'earlier session')} stay here; \`capture init --history all\` sends them.`];
  return [`Of ${formatCount(all, 'earlier session')}, ${chosen} ${chosen === 1 ? 'is' : 'are'} being sent.`];
}
