import { formatCount } from '../../contract/count.ts';
import type { Settings } from '../config.ts';
import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import { installHooks } from '../hooks/install.ts';
import { writeScript } from '../hooks/script.ts';
import { importAll } from '../import/capture.ts';
import type { Output } from '../output.ts';
import { tilde } from '../paths.ts';
import { findOwnRepository } from '../pipeline.ts';
import { readConsent, writeConsent } from '../privacy/consent.ts';
import { ownPlaces } from '../read/places.ts';
import { explainRefusal, isTemporary } from '../upload/problem.ts';
import { createRegistration } from '../upload/registration.ts';
import { createRetry } from '../upload/retry.ts';
import { createService } from '../upload/service.ts';
import { type Starter, startDaemon } from './daemon.ts';
import { countChosen, type History, type HistoryChoice } from './history.ts';
import { namesOf, type Plan } from './plan.ts';

export type Done = Awaited<ReturnType<typeof carryOut>>;

/**
 * Carries out the agreed plan. A failed step is reported, and the others continue. `history`: which earlier sessions are sent;
 * undefined if the present decision stays.
 */
export async function carryOut(
  context: Context,
  settings: Settings,
  plan: Plan,
  history: HistoryChoice | undefined,
  output: Output,
) {
  const environmentId = await register(context, settings, plan.agents);
  if (history) writeConsent(context, { since: readConsent(context)?.since ?? context.now(), history });
  if (plan.hooks.length > 0) writeScript(context);
  const isNew = plan.hooks.some(({ edited: { change } }) => change === 'edited' || change === 'created');
  if (isNew && history === 'all') await captureBefore(context, plan, output);
  const edited = plan.hooks.map(({ wanted }) => installHooks(context, wanted, true));
  for (const { path, change, reason } of edited)
    if (change === 'left') output.warn(`${path} is left alone: ${reason}.`);
  const daemon = plan.daemon ? await startDaemon(context, plan.supervisor) : undefined;
  // There is no id if the service could not be reached, and no daemon if none was to be set up.
  return { edited, environmentId, daemon };
}

const REGISTER_MS = 5000;

/**
 * Registers this machine and its agents with the service, and returns the machine's id there. Undefined if the service does
 * not answer in time, since the sender registers both as well. Throws a `Failure` if the machine may not capture.
 */
async function register(context: Context, settings: Settings, agents: Plan['agents']): Promise<string | undefined> {
  const { fetch, random, stop } = context;
  const signal = AbortSignal.any([stop, AbortSignal.timeout(REGISTER_MS)]);
  const service = createService({ ...settings, fetch, timeoutMs: REGISTER_MS });
  const repository = findOwnRepository(context);
  const registration = createRegistration(service, createRetry({ random, signal }), context, { repository });
  try {
    const environmentId = await registration.environment();
    // An agent that may not capture is reported when it has something to send.
    await Promise.allSettled(agents.map(({ id }) => registration.installation(id, undefined, 0)));
    return environmentId;
  } catch (error) {
    if (stop.aborted) throw error;
    if (!isTemporary(error)) throw explainRefusal(error, 'Nothing was changed.');
    return undefined;
  }
}

const IMPORT_MS = 10_000;

/** Captures conversations from before the hooks. Once a conversation continues with hooks, its transcript no longer counts. */
async function captureBefore(context: Context, { hooks }: Plan, output: Output): Promise<void> {
  const places = ownPlaces({ ...context, agents: hooks.map(({ wanted }) => wanted.agent) });
  try {
    // Its answer is not the answer of `capture init`.
    await importAll(
      context,
      { places, isNamed: true, onTrouble: () => {}, patienceMs: IMPORT_MS },
      { ...output, answer() {} },
    );
  } catch (error) {
    if (context.stop.aborted) throw error;
    output.warn(
      `Cursor's earlier conversations were not captured. \`capture import\` may still capture them: ${describe(error)}`,
    );
  }
}

/** Summarizes what was done, in as few lines as possible. */
export function describeDone(
  context: Context,
  { agents, history }: Plan,
  choice: HistoryChoice | undefined,
  { edited, daemon, environmentId }: Done,
): string[] {
  const changed = edited.filter(({ change }) => change !== 'none' && change !== 'left');
  const files = changed.map(({ path }) => tilde(path, context.home)).join(', ');
  return [
    environmentId === undefined
      ? 'The service cannot be reached now. This machine will be registered when it first sends.'
      : `Registered ${context.hostname}. Agents found: ${namesOf(agents)}.`,
    files === ''
      ? 'Nothing in your agents was changed.'
      : `Changed in your agents: ${files}; \`capture uninstall\` undoes it.`,
    ...(history && choice ? [describeChoice(history, choice, daemon?.running === true)] : []),
    ...(daemon?.running ? [`capture runs. ${describeStarter(daemon.starter)}`] : []),
    ...(daemon?.running === false ? ['The daemon did not start: `capture status --log` may say why.'] : []),
    daemon
      ? 'Next: open an agent and work. `capture status` shows the progress, and `capture open` opens the session.'
      : 'Next: `capture run` captures while it runs. `capture status` shows the progress.',
  ];
}

function describeStarter(starter: Starter): string {
  if (starter !== 'process') return `${starter} starts it again whenever you sign in.`;
  return 'Nothing starts it after a reboot: run `capture restart` then.';
}

function describeChoice(history: History, choice: HistoryChoice, isRunning: boolean): string {
  const all = history.sessions.length;
  const chosen = countChosen(history, choice);
  if (all === 0) return 'There are no earlier sessions.';
  const howMany = chosen < all ? `${chosen.toLocaleString('en-US')} of ` : all > 1 ? 'all ' : '';
  const sessions = `${howMany}${formatCount(all, 'earlier session')}`;
  if (chosen > 0 && isRunning) return `Sending ${sessions} in the background.`;
  if (chosen > 0) return `\`capture import\` sends ${sessions}.`;
  return `None of the ${formatCount(all, 'earlier session')} will be sent; \`capture init --history all\` changes that.`;
}
