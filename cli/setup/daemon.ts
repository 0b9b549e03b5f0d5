import type { ChildProcess } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJson, type StatePlace, stateFolder, writeJson } from '../config.ts';
import type { Context } from '../context.ts';
import { isDaemonRunning, stopDaemon } from '../daemon/control.ts';
import { replaceFile } from '../hooks/file.ts';
import { execute, isOurs, type Supervisor, supervisorOf } from './supervisors.ts';
import { MEMORY_VARIABLES } from './variables.ts';

/** Before the daemon counts as running, it asks the service for the secret's account, for up to 10 s. */
const BEGIN_MS = 20_000;

/** Who restarts the daemon: a supervisor, or nobody (`process`). */
export type Starter = Supervisor['name'] | 'process';

/** Makes the daemon run from now on, under the supervisor if one is given. Returns who restarts it, and whether it runs. */
export async function startDaemon(
  context: Context,
  supervisor: Supervisor | undefined,
): Promise<{ starter: Starter; running: boolean }> {
  if (supervisor) replaceFile(supervisor.file.path(context), supervisor.file.write(context), 0o644);
  // If another daemon ran, the supervisor's own would find the lock taken.
  if (supervisor) await stopDaemon(stateFolder(context));
  const isSupervised = supervisor !== undefined && runAll(context, supervisor.start(context));
  if (supervisor && !isSupervised) removeSupervisor(context, supervisor);
  const starter = isSupervised ? supervisor.name : 'process';
  writeJson(setupPath(context), { starter });
  // A daemon that already runs may be of an earlier version, and does not know the latest decisions.
  return { starter, running: await (isSupervised ? awaitDaemon(context) : restartDaemon(context)) };
}

/** Ends the daemon if it runs, and starts it again, by its supervisor if it has one. Returns false if it does not start. */
export async function restartDaemon(context: Context): Promise<boolean> {
  await stopDaemon(stateFolder(context));
  const supervisor = supervisorOf(context.platform);
  if (supervisor === undefined || supervisor.name !== readStarter(context)) {
    return awaitDaemon(context, startProcess(context));
  }
  runAll(context, supervisor.start(context));
  return awaitDaemon(context);
}

/** A separate process that outlives the terminal. Its messages are in its log. */
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

/** Waits until the daemon runs. Returns false if it does not within 20 s, or if its process has ended. */
async function awaitDaemon(context: Context, child?: ChildProcess): Promise<boolean> {
  const state = stateFolder(context);
  const until = performance.now() + BEGIN_MS;
  const mayBegin = () => performance.now() < until && !context.stop.aborted && (child?.exitCode ?? null) === null;
  while (!isDaemonRunning(state) && mayBegin()) await sleep(100);
  return isDaemonRunning(state);
}

/** Runs all commands in order, even after a failure. Returns whether the last one succeeded. */
const runAll = (context: Context, commands: readonly string[][]): boolean =>
  commands.map((command) => execute(context, command)).at(-1) === true;

/** Returns the paths of the files that it removed. */
function removeSupervisor(context: Context, { stop, file }: Supervisor): string[] {
  runAll(context, stop(context));
  const path = file.path(context);
  if (!existsSync(path) || !isOurs(context, file)) return [];
  rmSync(path);
  return [path];
}

/** Removes the daemon from its supervisor and ends it, however it was started. Throws a `Failure` if it does not end. */
export async function removeDaemon(
  context: Context,
): Promise<{ stopped: boolean; wasSetUp: boolean; removed: string[] }> {
  const supervisor = supervisorOf(context.platform);
  const wasRunning = isDaemonRunning(stateFolder(context));
  const isSetUp = readStarter(context) === supervisor?.name || existsSync(supervisor?.file.path(context) ?? '');
  const removed = supervisor && isSetUp ? removeSupervisor(context, supervisor) : [];
  await stopDaemon(stateFolder(context));
  const wasSetUp = existsSync(setupPath(context));
  rmSync(setupPath(context), { force: true });
  return { stopped: wasRunning, wasSetUp, removed };
}

const setupPath = (place: StatePlace) => join(stateFolder(place), 'setup.json');

/** Who restarts the daemon. Undefined if nobody does, or if the file cannot be read. */
export function readStarter(place: StatePlace): Starter | undefined {
  try {
    return readJson<{ starter: Starter }>(setupPath(place))?.starter;
  } catch {
    return undefined;
  }
}
