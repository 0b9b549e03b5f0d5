import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import type { Agent } from '../agents/agent.ts';

export interface ProcessOptions {
  agents: readonly Pick<Agent, 'id' | 'programs'>[];
  platform: string;
  /** Milliseconds of a clock that is never set. */
  tick: () => number;
  /** The first words of what each process was started as; undefined where the system does not tell. */
  list?: (platform: string) => Promise<string[][] | undefined>;
}

/** Listing some hundred processes takes 20 ms. */
const ASK_MS = 60_000;
/** `node --flag /usr/bin/gemini`: the program's name is one of these words. */
const WORDS = 3;

/**
 * Tells of which of these agents no process runs on this machine, for any of its people: none where the system or the agent
 * does not tell. The system is asked once a minute at most, and where it is asked for any agent at all.
 */
export function createStoppedAgents({ agents, platform, tick, list = listProcesses }: ProcessOptions) {
  let askedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<Set<string> | undefined> = Promise.resolve(undefined);

  return async (ids: readonly string[]): Promise<string[]> => {
    const programsOf = (id: string) => agents.filter((agent) => agent.id === id).map(({ programs }) => programs);
    const told = ids.filter((id) => programsOf(id).every((programs) => programs !== undefined));
    if (told.length === 0) return [];
    if (tick() - askedAt >= ASK_MS) {
      askedAt = tick();
      running = list(platform).then((processes) => processes && new Set(processes.flat().map(nameOf)));
    }
    const names = await running;
    const isRunning = (id: string) =>
      programsOf(id)
        .flat()
        .some((name) => name !== undefined && names?.has(name));
    return names === undefined ? [] : told.filter((id) => !isRunning(id));
  };
}

const nameOf = (word: string) => basename(word).replace(/\.(exe|[cm]?js)$/, '');

async function listProcesses(platform: string): Promise<string[][] | undefined> {
  try {
    if (platform === 'linux') return await listOnLinux();
    if (platform === 'darwin') return await listOnMac();
  } catch {
    // Without /proc, or without `ps`.
  }
  return undefined;
}

async function listOnLinux(): Promise<string[][]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  // One that has ended meanwhile does not run.
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return lines.map((line) => line.split('\0', WORDS));
}

async function listOnMac(): Promise<string[][]> {
  const { stdout } = await promisify(execFile)('/bin/ps', ['-axo', 'command='], {
    env: {},
    maxBuffer: 64 * 1024 * 1024,
    timeout: 5000,
  });
  return stdout.split('\n').map((line) => line.split(/\s+/, WORDS));
}
