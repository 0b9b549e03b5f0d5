import type { ChildProcess } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJson, stateFolder, writeJson } from '../config.ts';
import type { Context } from '../context.ts';
import { isDaemonRunning, stopDaemon } from '../daemon/control.ts';
import { readFile, replaceFile } from '../hooks/file.ts';
import { execute } from './execute.ts';
import { findSupervisor, type Supervisor, supervisorOf } from './supervisors.ts';
import { MEMORY_VARIABLES } from './variables.ts';

const COMMAND_MS = 30_000;
/** It asks the service whose secret it has before it counts as running, for 10 s at most. */
const BEGIN_MS = 20_000;

/** Who starts the daemon again: a supervisor, an agent by its hook, nobody (`process`), or none was ever started. */
export type Starter = Supervisor['kind'] | 'hook' | 'process' | 'none';

export interface DaemonPlan {
  /** Undefined where nothing of the system keeps it running. */
  supervisor?: Supervisor;
  /** The supervisor's file, and whether it is there as it should be. */
  file?: { path: string; text: string; change: 'none' | 'created' | 'edited' };
}

/** Finds who can keep the daemon running. Writes nothing. */
export async function planDaemon(context: Context): Promise<DaemonPlan> {
  const supervisor = await findSupervisor(context);
  if (supervisor?.file === undefined) return supervisor ? { supervisor } : {};
  const path = supervisor.file.path(context);
  const text = supervisor.file.write(context);
  const there = readFile(path)?.toString('utf8');
  if (there?.includes(supervisor.file.marker) === false) return {};
  return {
    supervisor,
    file: { path, text, change: there === undefined ? 'created' : there === text ? 'none' : 'edited' },
  };
}

/** Has the daemon run from now on, if it is planned; returns who starts it again, and whether it runs. */
export async function startDaemon(
  context: Context,
  plan: DaemonPlan | undefined,
  isHooked: boolean,
): Promise<{ starter: Starter; isRunning: boolean }> {
  if (plan === undefined) {
    return { starter: note(context, readStarter(stateFolder(context)) ?? 'none'), isRunning: false };
  }
  const { supervisor, file } = plan;
  if (supervisor) {
    if (file && file.change !== 'none') replaceFile(file.path, file.text, 0o644);
    if ((await runAll(context, supervisor.start(context))) === 0) {
      return { starter: note(context, supervisor.kind), isRunning: await awaitDaemon(context) };
    }
    await removeSupervisor(context, supervisor);
  }
  // One that runs already may be of an earlier version, and does not know what was decided just now.
  return { starter: note(context, isHooked ? 'hook' : 'process'), isRunning: await restartDaemon(context) };
}

/** Ends the daemon if it runs, and has it started by its supervisor, or starts it; false where it does not come to run. */
export async function restartDaemon(context: Context): Promise<boolean> {
  const state = stateFolder(context);
  await stopDaemon(state);
  const supervisor = supervisorOf(context.platform);
  if (supervisor === undefined || supervisor.kind !== readStarter(state)) {
    return awaitDaemon(context, startProcess(context));
  }
  await runAll(context, supervisor.start(context));
  return awaitDaemon(context);
}

/** A process of its own, which outlives the terminal. What it cannot say here is in its log. */
function startProcess(context: Context): ChildProcess {
  const { spawn, program, variables } = context;
  const [first = '', ...words] = program;
  const child = spawn(first, [...words, 'run', '--quiet'], {
    cwd: stateFolder(context),
    env: { ...variables, ...MEMORY_VARIABLES },
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  });
  child.once('error', () => {}).unref();
  return child;
}

/** Waits until the daemon runs; false where it does not within 20 s, or its process has ended. */
async function awaitDaemon(context: Context, child?: ChildProcess): Promise<boolean> {
  const until = performance.now() + BEGIN_MS;
  const mayBegin = () => performance.now() < until && !context.stop.aborted && (child?.exitCode ?? null) === null;
  while (!isDaemonRunning(stateFolder(context)) && mayBegin()) await sleep(100);
  return isDaemonRunning(stateFolder(context));
}

interface Setup {
  starter: Starter;
  /** The files that the daemon is started from. */
  program: readonly string[];
}

const setupPath = (state: string) => join(state, 'setup.json');

function note(context: Context, starter: Starter): Starter {
  writeJson(setupPath(stateFolder(context)), { starter, program: context.program } satisfies Setup);
  return starter;
}

/** Undefined where nothing is set up, or what says so cannot be read. */
function readSetup(state: string): Partial<Setup> | undefined {
  try {
    return readJson<Partial<Setup>>(setupPath(state));
  } catch {
    return undefined;
  }
}

/** Who was asked to start the daemon; undefined where nobody was, or what says so cannot be read. */
export const readStarter = (state: string): Starter | undefined => readSetup(state)?.starter;

/** The files that the daemon is started from and that are gone, as after an update of a version manager's Node. */
export const findMissingProgram = (context: Pick<Context, 'variables' | 'home'>): string[] =>
  readSetup(stateFolder(context))?.program?.filter((path) => !existsSync(path)) ?? [];

/** Runs one after the other, whatever becomes of them; returns how the last one ended. */
async function runAll(context: Context, commands: readonly string[][]): Promise<number | undefined> {
  let last: number | undefined;
  for (const command of commands) last = (await execute(context, command, COMMAND_MS)).exitCode;
  return last;
}

/** Returns the paths of files it removed. */
async function removeSupervisor(context: Context, { stop, file, forget = [] }: Supervisor): Promise<string[]> {
  await runAll(context, stop(context));
  const path = file?.path(context) ?? '';
  const isOurs = file !== undefined && readFile(path)?.includes(file.marker) === true;
  if (isOurs) rmSync(path);
  await runAll(context, forget);
  return isOurs ? [path] : [];
}

/** Takes the daemon from its supervisor and ends it, however it was started. Throws a `Failure` where it does not end. */
export async function removeDaemon(context: Context): Promise<{ stopped: boolean; removed: string[] }> {
  const state = stateFolder(context);
  const wasRunning = isDaemonRunning(state);
  const supervisor = supervisorOf(context.platform);
  const isSetUp = readStarter(state) === supervisor?.kind || existsSync(supervisor?.file?.path(context) ?? '');
  const removed = supervisor && isSetUp ? await removeSupervisor(context, supervisor) : [];
  await stopDaemon(state);
  rmSync(setupPath(state), { force: true });
  return { stopped: wasRunning, removed };
}
