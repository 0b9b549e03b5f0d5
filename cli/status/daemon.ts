import { readFileSync, statSync } from 'node:fs';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { isPaused, pausedPath } from '../daemon/pause.ts';
import { pidPath } from '../daemon/pid.ts';
import { isLocked } from '../lock.ts';
import { formatAge } from '../output.ts';
import { readStarter, type Starter } from '../setup/daemon.ts';

export interface DaemonReport {
  running: boolean;
  pid?: number;
  /** It ended without saying so: its process id was left behind. */
  crashed: boolean;
  /** When it was started, or when the one that crashed was. */
  since?: string;
  /** Of the daemon that wrote the last beat. */
  version?: string;
  /** When the service last answered it. */
  beatAt?: string;
  /** Who is to start it. */
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

/** `beat` is what the daemon noted in its spool. */
export function readDaemon(context: Context, beat: string | undefined): DaemonReport {
  const state = stateFolder(context);
  const running = isLocked(state, 'run');
  const pid = readPid(state);
  const { beatAt, version, pid: beatPid } = parseBeat(beat);
  const starter = readStarter(state);
  const paused = isPaused(state, context.now());
  const pausedUntil = paused ? readUntil(state) : undefined;
  const isNoted = !running || beatPid === pid;
  return {
    running,
    crashed: !running && pid !== undefined,
    ...(pid !== undefined && { pid, since: new Date(statSync(pidPath(state)).mtimeMs).toISOString() }),
    ...(isNoted && version !== undefined && { version }),
    ...(isNoted && beatAt !== undefined && { beatAt: new Date(beatAt).toISOString() }),
    ...(starter && { starter }),
    paused,
    ...(pausedUntil !== undefined && { pausedUntil }),
  };
}

/** `2026-11-21 15:57 UTC`: a log that is read elsewhere means the same. */
export const formatMoment = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;

export function describeDaemon(daemon: DaemonReport, now: number): string[] {
  const { running, crashed, since, version, paused, pausedUntil, starter } = daemon;
  const ago = since === undefined ? undefined : formatAge(now - Date.parse(since));
  const ended = crashed ? `ended without saying so, it was started ${ago} ago` : 'not running';
  const start = starter === 'hook' ? ', the next hook starts it' : ', `capture run` starts it';
  const run = ['running', ago && `for ${ago}`, version && `(${version})`].filter(Boolean).join(' ');
  return [
    `Daemon        ${running ? run : ended + start}`,
    ...(paused
      ? [`Paused        ${pausedUntil ? `until ${formatMoment(pausedUntil)}` : 'until `capture resume`'}`]
      : []),
  ];
}

function readPid(state: string): number | undefined {
  try {
    const text = /^\d+/.exec(readFileSync(pidPath(state), 'utf8'))?.[0];
    return text === undefined ? undefined : Number(text);
  } catch {
    return undefined;
  }
}

function parseBeat(beat: string | undefined): Beat {
  return beat === undefined ? {} : (JSON.parse(beat) as Beat);
}

function readUntil(state: string): string | undefined {
  try {
    const { until } = JSON.parse(readFileSync(pausedPath(state), 'utf8')) as { until?: unknown };
    return typeof until === 'string' ? until : undefined;
  } catch {
    return undefined;
  }
}
