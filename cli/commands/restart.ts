import { setTimeout as sleep } from 'node:timers/promises';
import { defineCommand } from '../command.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { holderOf, stopDaemon } from '../daemon/control.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Output } from '../output.ts';
import { readStarter } from '../setup/daemon.ts';
import { execute } from '../setup/execute.ts';
import { supervisorOf } from '../setup/supervisor.ts';

export const restartCommand = defineCommand({
  name: 'restart',
  summary: 'end the daemon and start it anew',
  description: 'Starts `capture run` anew, as after an update: by the service manager, where `capture init` set it up.',
  examples: [['capture restart', 'also where none runs']],
  run: runRestart,
});

const COMMAND_MS = 30_000;
const START_MS = 20_000;
const LOOK_MS = 100;

async function runRestart(context: Context, _options: object, output: Output): Promise<void> {
  const folder = stateFolder(context);
  const stopped = await stopDaemon(folder);
  await start(context, folder);
  const holder = await findHolder(folder);
  if (holder === undefined) {
    throw new Failure(EXIT.failure, 'The daemon did not start.', '`capture run` says why.');
  }
  output.answer({ stopped, running: true, pid: holder.pid }, [
    `The daemon runs${stopped ? ' anew' : ''}, as process ${holder.pid}.`,
  ]);
}

async function start(context: Context, folder: string): Promise<void> {
  const supervisor = supervisorOf(context.platform);
  if (supervisor !== undefined && readStarter(folder) === supervisor.kind) {
    for (const command of supervisor.start(context)) await execute(context, command, COMMAND_MS);
    return;
  }
  const { spawn, program, variables } = context;
  const [first = '', ...words] = program;
  const options = { cwd: folder, env: variables, detached: true, stdio: 'ignore', windowsHide: true } as const;
  const child = spawn(first, [...words, 'run', '--quiet'], options);
  // It is told by the daemon's not running.
  child.once('error', () => {});
  child.unref();
}

async function findHolder(folder: string) {
  for (let waited = 0; waited < START_MS; waited += LOOK_MS) {
    const holder = holderOf(folder);
    if (holder !== undefined) return holder;
    await sleep(LOOK_MS);
  }
  return undefined;
}
