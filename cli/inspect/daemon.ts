import { readFileSync } from 'node:fs';
import { holderOf, isDaemonRunning } from '../daemon/control.ts';
import { isPaused, pausedPath } from '../daemon/pause.ts';
import { readStarter, type Starter } from '../setup/daemon.ts';

export interface DaemonState {
  /** Whether it runs is told by its lock, which ends with its process. */
  running: boolean;
  /** Of the one that runs; times are ISO. */
  pid?: number;
  since?: string;
  version?: string;
  /** When the service last answered it, or the one before. */
  beatAt?: string;
  /** Who starts it again. */
  starter?: Starter;
  paused: boolean;
  /** When the pause ends by itself. */
  pausedUntil?: string;
}

/** `beat` is what the daemon noted in its spool, JSON. */
export function inspectDaemon(state: string, beat: string | undefined, now: number): DaemonState {
  const { beatAt } = JSON.parse(beat ?? '{}') as { beatAt?: number };
  const running = isDaemonRunning(state);
  const holder = running ? holderOf(state) : undefined;
  const starter = readStarter(state);
  const paused = isPaused(state, now);
  const pausedUntil = paused ? readUntil(state) : undefined;
  return {
    running,
    ...(holder && { pid: holder.pid, since: new Date(holder.startedAt).toISOString(), version: holder.version }),
    ...(beatAt !== undefined && { beatAt: new Date(beatAt).toISOString() }),
    ...(starter && { starter }),
    paused,
    ...(pausedUntil !== undefined && { pausedUntil }),
  };
}

/** `2026-11-21 15:57 UTC`: a log that is read elsewhere means the same. */
export const formatMoment = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;

function readUntil(state: string): string | undefined {
  try {
    const { until } = JSON.parse(readFileSync(pausedPath(state), 'utf8')) as { until?: unknown };
    return typeof until === 'string' ? until : undefined;
  } catch {
    return undefined;
  }
}
