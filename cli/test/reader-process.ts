import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AGENTS } from '../agents/all.ts';
import type { Place } from '../read/discover.ts';
import { openReading } from './reading.ts';

/** The files that a reader in a separate process reads repeatedly until it is killed. */
interface Job {
  spool: string;
  files: { agent: number; root: string; below: string }[];
}

/** Starts a reader; `folder` is the folder for its job file. */
export function startReader(folder: string, spool: string, places: readonly Place[]) {
  const files = places.map(({ agent, root, below }) => ({ agent: AGENTS.indexOf(agent), root, below }));
  const path = `${folder}/${randomUUID()}.json`;
  writeFileSync(path, JSON.stringify({ spool, files } satisfies Job));
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), path], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    errors += String(chunk);
  });
  const ended = once(child, 'exit');

  const rounds = () => output.split(')').length - 1;
  return {
    rounds,
    /** Waits for `more` further rounds; the first of them may have begun before. */
    async passed(more: number): Promise<void> {
      const wanted = rounds() + more;
      while (rounds() < wanted && child.exitCode === null) await sleep(2);
    },
    async begun(): Promise<void> {
      while (output === '' && child.exitCode === null) await sleep(2);
    },
    /** Kills the reader. @returns whether it was in the middle of a round. @throws if it had already ended by itself */
    async kill(): Promise<boolean> {
      child.kill('SIGKILL');
      await ended;
      if (child.signalCode !== 'SIGKILL') throw new Error(`the reader ended by itself: ${errors}`);
      return output.endsWith('(');
    },
  };
}

async function readForever({ spool, files }: Job): Promise<never> {
  const places = files.flatMap(({ agent, root, below }) => {
    const known = AGENTS[agent];
    return known ? [{ agent: known, root, below, isNamed: true }] : [];
  });
  const reading = openReading('', spool, { places, newKey: randomUUID });
  for (;;) {
    process.stdout.write('(');
    // Another reader may have been faster; the next round then continues.
    const isWhole = await reading.read();
    process.stdout.write(isWhole ? ')' : '!');
    await sleep(5);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await readForever(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Job);
}
