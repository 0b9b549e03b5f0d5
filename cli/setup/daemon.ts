import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJson, stateFolder, writeJson } from '../config.ts';
import type { Context } from '../context.ts';
import { type Change, isChange, planFile, type Refusal } from '../hooks/change.ts';
import { applyChange, applyRestoration, planRestoration, takeOutNothing } from '../hooks/install.ts';
import { findDeed, readDeeds } from '../hooks/ledger.ts';
import { isLocked } from '../lock.ts';
import { execute } from './execute.ts';
import { withLastingProgram } from './lasting-program.ts';
import { chainOf, type Supervisor, supervisorOf } from './supervisor.ts';

/** Under which the supervisor's file is kept. */
const OWNER = 'daemon';
const COMMAND_MS = 30_000;
const END_MS = 10_000;

/** Who starts the daemon: a supervisor, the hooks, or the person alone. */
export type Starter = Supervisor['kind'] | 'hook' | 'none';

export interface DaemonPlan {
  starter: Starter;
  supervisor?: Supervisor;
  /** The supervisor's file. */
  file?: Change | Refusal;
}

export async function planDaemon(context: Context, { daemon }: { daemon: boolean }): Promise<DaemonPlan> {
  if (!daemon) return { starter: 'none' };
  const supervisor = supervisorOf(context.platform);
  if (supervisor === undefined || !(await supervisor.isAvailable(context))) return planForHook(context);
  const wanted = supervisor.file?.(withLastingProgram(context));
  if (wanted === undefined) return { starter: supervisor.kind, supervisor };
  const file = planFile(wanted, () => false, findDeed(readDeeds(stateFolder(context), OWNER), wanted.path));
  return { starter: isChange(file) ? supervisor.kind : planForHook(context).starter, supervisor, file };
}

/** On Windows a hook cannot start a program that outlives it without a window. */
const planForHook = ({ platform }: Context): DaemonPlan => ({ starter: platform === 'win32' ? 'none' : 'hook' });

/** Sets the daemon up and starts it; returns who starts it in the end, the hooks where the supervisor would not. */
export async function setUpDaemon(context: Context, { starter, supervisor, file }: DaemonPlan): Promise<Starter> {
  const state = stateFolder(context);
  const lasting = withLastingProgram(context);
  if (starter === 'none') return note(lasting, earlierSupervisor(context)?.kind ?? 'none');
  if (starter === 'hook') return note(lasting, 'hook');
  if (file && isChange(file)) applyChange(file, { state, owner: OWNER, takeOut: takeOutNothing });
  for (const each of chainOf(supervisor)) {
    if (!(await each.isAvailable(lasting))) continue;
    // Of several commands the last is what counts: those before may have nothing to do.
    const outcomes = await runAll(context, each.start(lasting));
    if (outcomes.at(-1) === 0) return note(lasting, each.kind);
    await removeSupervisor(context, each);
  }
  return note(lasting, planForHook(context).starter);
}

/** Which is asked to keep the daemon running from before: not to set one up leaves it alone. */
const earlierSupervisor = (context: Context): Supervisor | undefined =>
  chainOf(supervisorOf(context.platform)).find(({ kind }) => kind === readStarter(stateFolder(context)));

interface Setup {
  starter: Starter;
  /** The files that the daemon is started from. */
  program?: readonly string[];
}

/** The files that the daemon is started from and that are gone, as after an update of a version manager's Node. */
export function findMissingProgram(context: Pick<Context, 'variables' | 'home'>): string[] {
  const { program = [] } = readSetup(stateFolder(context)) ?? {};
  return program.filter((path) => !existsSync(path));
}

/** Who was asked to start the daemon; undefined where nobody was, or what says so cannot be read. */
export const readStarter = (state: string): Starter | undefined => readSetup(state)?.starter;

function readSetup(state: string): Partial<Setup> | undefined {
  try {
    return readJson<Partial<Setup>>(setupPath(state));
  } catch {
    return undefined;
  }
}

const setupPath = (state: string) => join(state, 'setup.json');

function note(context: Context, starter: Starter): Starter {
  writeJson(setupPath(stateFolder(context)), { starter, program: context.program } satisfies Setup);
  return starter;
}

async function runAll(context: Context, commands: readonly string[][]): Promise<(number | undefined)[]> {
  const outcomes: (number | undefined)[] = [];
  for (const command of commands) outcomes.push((await execute(context, command, COMMAND_MS)).exitCode);
  return outcomes;
}

/** Returns the paths of files it removed. */
async function removeSupervisor(context: Context, supervisor: Supervisor): Promise<string[]> {
  const state = stateFolder(context);
  await runAll(context, supervisor.stop(context));
  const removed: string[] = [];
  for (const deed of readDeeds(state, OWNER).deeds) {
    const restoration = planRestoration(deed, takeOutNothing);
    applyRestoration(restoration, { state, owner: OWNER });
    if (restoration.reason === undefined) removed.push(deed.path);
  }
  await runAll(context, supervisor.forget ?? []);
  return removed;
}

export interface DaemonRemoval {
  /** Whether a daemon was running and has ended. */
  stopped: boolean;
  /** Whether one still runs. */
  running: boolean;
  removed: string[];
}

/** Takes the daemon from its supervisor and ends it, however it was started. */
export async function removeDaemon(context: Context): Promise<DaemonRemoval> {
  const state = stateFolder(context);
  const wasRunning = isLocked(state, 'run');
  // Its file may be there although the hooks start the daemon since.
  const hasFile = readDeeds(state, OWNER).deeds.length > 0;
  const supervisor = earlierSupervisor(context) ?? (hasFile ? supervisorOf(context.platform) : undefined);
  const removed = supervisor ? await removeSupervisor(context, supervisor) : [];
  const running = wasRunning && !(await endDaemon(context, state));
  for (const name of ['setup.json', 'daemon.started', 'daemon.boot']) rmSync(join(state, name), { force: true });
  return { stopped: wasRunning && !running, running, removed };
}

/** Asks the holder of the daemon's lock to end, and waits for it. */
async function endDaemon(context: Context, state: string): Promise<boolean> {
  const pid = readPid(state);
  if (isLocked(state, 'run') && pid !== undefined) {
    const command = context.platform === 'win32' ? ['taskkill', '/F', '/PID', pid] : ['kill', '-TERM', pid];
    await execute(context, command, COMMAND_MS);
  }
  const until = performance.now() + END_MS;
  while (isLocked(state, 'run') && performance.now() < until) await sleep(100);
  return !isLocked(state, 'run');
}

function readPid(state: string): string | undefined {
  try {
    return /^\d+/.exec(readFileSync(join(state, 'daemon.pid'), 'utf8'))?.[0];
  } catch {
    return undefined;
  }
}
