import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { logPaths } from '../daemon/log.ts';
import { type LogLine, parseLines } from './log-lines.ts';

const LOOK_MS = 250;

/** Tells each line that is added to the daemon's log from now on, also when it begins a new file, until the signal. */
export async function followLog(
  folder: string,
  { onLine, signal }: { onLine: (line: LogLine) => void; signal: AbortSignal },
): Promise<void> {
  const { current } = logPaths(folder);
  let file = open(current);
  let offset = file === undefined ? 0 : fstatSync(file).size;
  let rest = '';

  function readOn(fd: number): void {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(fd).size - offset));
    const count = readSync(fd, bytes, 0, bytes.length, offset);
    offset += count;
    const lines = (rest + bytes.toString('utf8', 0, count)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of parseLines(lines.join('\n'))) onLine(line);
  }

  while (!signal.aborted) {
    if (file !== undefined) readOn(file);
    const next = open(current);
    if (next !== undefined && file !== undefined && fstatSync(next).ino === fstatSync(file).ino) closeSync(next);
    else if (next !== undefined) {
      // What was written to the old file before it was renamed.
      if (file !== undefined) {
        readOn(file);
        closeSync(file);
      }
      file = next;
      offset = 0;
      rest = '';
      continue;
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
  }
  if (file !== undefined) closeSync(file);
}

function open(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}
