import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import type { Agent } from '../agents/agent.ts';

/** The program's name is one of the first words, as in `node --flag /usr/bin/gemini`. */
const WORDS = 3;

/**
 * Finds the agents without a running process of any user on this machine. An agent whose programs are unknown is never
 * returned. On a system that does not list processes, no agent is. Listing some hundred processes takes 20 ms.
 * @param agents their `programs` are in lower case
 */
export async function findStoppedAgents(
  ids: readonly string[],
  agents: readonly Pick<Agent, 'id' | 'programs'>[],
  platform: string,
): Promise<string[]> {
  const programsOf = (id: string) => agents.filter((agent) => agent.id === id).map(({ programs }) => programs);
  const telling = ids.filter((id) => programsOf(id).every((programs) => programs !== undefined));
  const processes = telling.length === 0 ? undefined : await listProcesses(platform);
  if (processes === undefined) return [];
  // macOS starts applications in capitals: `Cursor`, `Electron`.
  const names = new Set(processes.flat().map((word) => basename(word.toLowerCase()).replace(/\.(exe|[cm]?js)$/, '')));
  const isRunning = (name: string | undefined) => name !== undefined && names.has(name);
  return telling.filter((id) => !programsOf(id).flat().some(isRunning));
}

/** The first words of each process's command line; undefined if the system does not list them. */
async function listProcesses(platform: string): Promise<string[][] | undefined> {
  try {
    if (platform === 'linux') return await listOnLinux();
    if (platform === 'darwin') return await listOnMac();
  } catch {
    // The system has no /proc, or no `ps`.
  }
  return undefined;
}

async function listOnLinux(): Promise<string[][]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  // A process that has ended meanwhile does not count as running.
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return lines.map((line) => line.split('\0', WORDS));
}

async function listOnMac(): Promise<string[][]> {
  const options = { env: {}, maxBuffer: 64 * 1024 * 1024, timeout: 5000 };
  const { stdout } = await promisify(execFile)('/bin/ps', ['-axo', 'command='], options);
  return stdout.split('\n').map((line) => line.split(/\s+/, WORDS));
}
