import { readFileSync } from 'node:fs';
import { isDaemonRunning } from '../daemon/control.ts';
import { isPaused, pausedPath } from '../daemon/pause.ts';
import { readStarter, type Starter } from '../setup/daemon.ts';

export interface DaemonState {
  /** Whether it runs is told by its lock, which ends with its process. */
  running: boolean;
  /** Of the daemon that last noted something, in ISO times. */
  pid?: number;
  version?: string;
  /** When the service last answered it. */
  beatAt?: string;
  /** Who starts it again. */
  starter?: Starter;
  paused: boolean;
  /** When the pause ends by itself. */
  pausedUntil?: string;
}

interface Beat {
  pid?: number;
  beatAt?: number;
  version?: string;
}

/** `beat` is what the daemon noted in its spool, JSON. */
export function inspectDaemon(state: string, beat: string | undefined, now: number): DaemonState {
  const { pid, beatAt, version } = beat === undefined ? {} : (JSON.parse(beat) as Beat);
  const starter = readStarter(state);
  const paused = isPaused(state, now);
  const pausedUntil = paused ? readUntil(state) : undefined;
  return {
    running: isDaemonRunning(state),
    ...(pid !== undefined && { pid }),
    ...(version !== undefined && { version }),
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
