import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';

export interface ProcessOptions {
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
 * Tells which of these programs run on this machine, for any of its people; undefined where the system does not tell. The
 * system is asked once a minute at most: a program may have begun or ended that long ago.
 */
export function createRunningPrograms({ platform, tick, list = listProcesses }: ProcessOptions) {
  let askedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<Set<string> | undefined> = Promise.resolve(undefined);

  return async (names: Iterable<string>): Promise<Set<string> | undefined> => {
    if (tick() - askedAt >= ASK_MS) {
      askedAt = tick();
      running = list(platform).then((processes) => processes && new Set(processes.flat().map(nameOf)));
    }
    return (await running)?.intersection(new Set(names));
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
