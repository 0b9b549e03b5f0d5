import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Running, startProcess } from '../../../../test/process.ts';
import type { Driver, Place, Turn } from './driver.ts';

const MAIN = join(import.meta.dirname, '../../../main.ts');

export interface MachineOptions {
  agents: string;
  modelUrl: string;
  serviceUrl: string;
  secret: string;
}

export interface Ended {
  /** Its exit code, or the signal that ended it. */
  code: number | string;
  output: string;
}

/** A developer's machine: a home folder in which the agents and capture run as processes. */
export function createMachine({ agents, modelUrl, serviceUrl, secret }: MachineOptions) {
  const home = mkdtempSync(join(tmpdir(), 'capture-machine-'));
  // Keep the settings of the machine that runs the tests away from the agents.
  const variables = { HOME: home, TERM: 'dumb', LANG: 'C.UTF-8', PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
  const path = `${join(agents, 'node_modules/.bin')}:${variables.PATH}`;
  const captureVariables = { ...variables, PATH: path, CAPTURE_URL: serviceUrl, CAPTURE_SECRET: secret };

  const end = async ({ ended, output }: Running): Promise<Ended> => ({ code: await ended, output: output() });

  return {
    home,
    /** Creates a git repository with a commit; `remote` is the address of its origin without `https://`. */
    createProject(name: string, remote?: string): Place {
      const folder = join(home, 'code', name);
      mkdirSync(folder, { recursive: true });
      const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, env: variables, stdio: 'ignore' });
      git('init', '--quiet');
      const who = ['-c', 'user.name=Robin', '-c', 'user.email=robin@example.com'];
      git(...who, 'commit', '--quiet', '--allow-empty', '--message', 'Begin');
      if (remote !== undefined) git('remote', 'add', 'origin', `https://${remote}.git`);
      return { agents, home, folder, modelUrl };
    },
    /** Adds a work tree beside the project. */
    createWorktree(place: Place, name: string): Place {
      const folder = join(dirname(place.folder), name);
      execFileSync('git', ['worktree', 'add', '--quiet', '-b', 'beside', folder], {
        cwd: place.folder,
        env: variables,
        stdio: 'ignore',
      });
      return { ...place, folder };
    },
    startAgent(driver: Driver, turn: Turn, place: Place) {
      const { program, args, variables: more } = driver.invoke(turn, place);
      return startProcess([program, ...args], { env: { ...variables, ...more }, cwd: place.folder });
    },
    startCapture: (...args: string[]) =>
      startProcess([process.execPath, MAIN, ...args], { env: captureVariables, cwd: home }),
    end,
    /** Ends every process of this home, including daemons that agents left behind. */
    async clear(): Promise<void> {
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        for (const pid of processesOf(home)) kill(pid, signal);
        await sleep(300);
      }
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export type Machine = ReturnType<typeof createMachine>;

/** Finds processes by their HOME variable, since agents leave daemons behind. */
function processesOf(home: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && readEnvironment(name).includes(`HOME=${home}`))
    .map(Number);
}

function readEnvironment(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}
