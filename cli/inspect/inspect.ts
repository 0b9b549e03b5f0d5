import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '../../contract/quote.ts';
import { type Account, findSpool, recallAccount } from '../account.ts';
import { readSettings, type Settings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { findDaemon, isDaemonRunning } from '../daemon/control.ts';
import { MAX_MEGABYTES, MEGABYTE } from '../daemon/limits.ts';
import { continuesAt, isActive } from '../decide/pauses.ts';
import { codeOf, describe, Failure } from '../failure.ts';
import { type Preferences, readPreferences } from '../privacy/preferences.ts';
import { findGone } from '../sessions/gone.ts';
import { readStarter } from '../setup/daemon.ts';
import { damageOf } from '../spool/damage.ts';
import { openSpool, type Spool } from '../spool/open.ts';
import { findGaps } from './gaps.ts';
import { askService, type ServiceAnswer } from './service.ts';
import { inspectTranscripts, type Transcripts } from './transcripts.ts';

/** The state of this machine, which `capture status` describes. */
export type Inspection = Awaited<ReturnType<typeof inspect>>;

/** The parts of the state that a caller knows already. */
export interface Known {
  /** The caller's open spool; it stays open. */
  spool?: Spool;
  service?: ServiceAnswer;
  daemon?: DaemonState;
  transcripts?: Transcripts;
  /** Returns how much space this person has on the disk of a folder. */
  freeBytes?: (folder: string) => number;
}

/**
 * Collects the state once. Runs no program of an agent, and registers nothing at the service. It writes nothing, except that
 * opening the spool notices lost decisions. Anything that cannot be known is absent, whatever the reason.
 */
export async function inspect(context: Context, known: Known = {}) {
  const { freeBytes = askFreeBytes } = known;
  const now = context.now();
  const state = stateFolder(context);
  const sign = attempt(() => readSettings(context), {});
  const wished = attempt<Preferences>(() => readPreferences(context), {});
  const settings = sign.value;
  const service = known.service ?? (await askService(context, settings));
  const recalled = attempt(() => recallAccount(settings, state), undefined);
  const account = service.account ?? recalled.value;
  const opened = attempt(() => known.spool ?? openLatest(state, settings, account), undefined);
  const spool = opened.value ?? openSpool(':memory:');
  if (opened.value === undefined) attempt(() => spool.copyDecisions(state), undefined);
  try {
    const isAsked = wished.trouble === undefined;
    const transcripts = known.transcripts ?? inspectTranscripts(context, spool, isAsked);
    return {
      ...{ now, state, settings, service, account, transcripts, agents: transcripts.agents },
      /** Whether the secret is that of this shell, and not the stored one. */
      isSecretOfShell: Boolean(context.variables.CAPTURE_SECRET),
      /** Absent if it is not known what was captured or what the person wants. */
      coverage: opened.value && isAsked ? transcripts.coverage : undefined,
      /** When capturing began on this machine, in milliseconds since 1970; absent if nobody has set it up. */
      begunAt: attempt(() => spool.decisions.consent()?.since, undefined).value,
      daemon: known.daemon ?? inspectDaemon(context, spool.getMeta('daemon')),
      gaps: findGaps(context, spool, transcripts.agents, isAsked),
      /** Absent if nothing was captured yet, or if the spool cannot be opened. */
      spool: opened.value && readSpool(spool, wished.value),
      /** How many captured sessions have transcripts that are no longer on this machine. */
      gone: attempt(() => findGone(context, spool, spool.sessions.list()).length, 0).value,
      /** Who may see new sessions, as far as this machine's setting says. */
      visibility: wished.value.visibility,
      /** The pause that is running now. */
      pause: attempt(() => spool.decisions.pauses().find((pause) => isActive(pause, now)), undefined).value,
      /** When capture continues after an ended pause, if the clock was set back. */
      continuesAt: attempt(() => continuesAt(spool.decisions.pauses(), now), undefined).value,
      /** Damaged spools that were kept. */
      damaged: listNames(state, /\.db\.corrupt-[^.]*(\.[^.]*)?Z$/),
      freeBytes: freeBytes(existsSync(state) ? state : context.home),
      /** What cannot be read, and why. */
      unreadable: {
        settings: sign.trouble,
        preferences: wished.trouble,
        spool: opened.trouble,
        spoolHint: hintOf(opened.error, state),
      },
    };
  } finally {
    if (spool !== known.spool) spool.close();
  }
}

interface DaemonState {
  running: boolean;
  pid?: number;
  since?: string;
  version?: string;
  /** When the service last answered the present daemon, or the previous one. */
  beatAt?: string;
  /** Who restarts the daemon. */
  starter?: ReturnType<typeof readStarter>;
}

/** Times are ISO. `beat` is the JSON that the daemon stored in its spool. */
function inspectDaemon(context: Context, beat: string | undefined): DaemonState {
  const state = stateFolder(context);
  const { beatAt } = JSON.parse(beat ?? '{}') as { beatAt?: number };
  const daemon = findDaemon(state);
  const starter = readStarter(context);
  return {
    running: isDaemonRunning(state),
    ...(daemon && { pid: daemon.pid, since: new Date(daemon.startedAt).toISOString(), version: daemon.version }),
    ...(beatAt !== undefined && { beatAt: new Date(beatAt).toISOString() }),
    ...(starter && { starter }),
  };
}

function readSpool(spool: Spool, preferences: Preferences) {
  const lastUpload = spool.getMeta('lastUploadAt');
  const lastError = spool.getMeta('lastError');
  return {
    capBytes: (preferences.spool?.maxMegabytes ?? MAX_MEGABYTES) * MEGABYTE,
    waiting: spool.batches.depth(),
    counters: spool.counters(),
    refused: spool.refused.perProblem(),
    notSending: spool.notice('sending'),
    /** Whether the daemon has stopped reading because the spool is full. */
    isFull: spool.notice('full') !== undefined,
    replaced: spool.notice('replaced'),
    /** The result of the last `capture verify --all`. */
    comparison: spool.comparison(),
    /** Sessions that are sent later. */
    deferred: spool.deferrals.list(),
    sent: spool.sessions.perAgent(),
    ...(lastUpload !== undefined && { lastUploadAt: new Date(Number(lastUpload)).toISOString() }),
    // An error counts as over once something was sent after it.
    ...(lastError !== undefined && !(Date.parse(lastError.slice(0, 24)) < Number(lastUpload)) && { lastError }),
  };
}

/** While nobody is signed in, this opens the last account's spool, because its events still wait. */
function openLatest(state: string, settings: Partial<Settings>, account: Account | undefined): Spool | undefined {
  const all = listNames(state, /^spool(-[0-9a-f]+)?\.db$/);
  const own = findSpool(state, settings, account);
  const latest = all.sort((one, other) => modifiedAt(one) - modifiedAt(other)).at(-1);
  const path = settings.secret === undefined || own === undefined ? latest : own;
  return path !== undefined && all.includes(path) ? openSpool(path) : undefined;
}

const modifiedAt = (path: string) =>
  Math.max(...[path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0));

function listNames(folder: string, pattern: RegExp): string[] {
  const names = attempt(() => readdirSync(folder), []).value;
  return names.filter((name) => pattern.test(name)).map((name) => join(folder, name));
}

/** Returns the result of the work, or why it failed. */
export function attempt<Value>(work: () => Value, otherwise: Value) {
  try {
    return { value: work(), trouble: undefined, error: undefined };
  } catch (error) {
    return { value: otherwise, trouble: describe(error), error };
  }
}

/** What to do about a spool that cannot be opened. Undefined if reading the transcripts again fixes it. */
function hintOf(error: unknown, state: string): string | undefined {
  const damage = damageOf(error);
  if (damage === 'full') return `df -h ${shellWord(state)}   # free some space; capturing then continues by itself`;
  if (damage === 'unsure' || isReadOnly(error)) return `ls -ld ${shellWord(state)}   # must be writable by you`;
  return error instanceof Failure && damage !== 'damaged' ? error.hint : undefined;
}

/** 8: SQLITE_READONLY */
const isReadOnly = (error: unknown): boolean =>
  ['EROFS', 'EACCES'].includes(codeOf(error) ?? '') ||
  (error instanceof Error && ((error as { errcode?: number }).errcode ?? 0) % 256 === 8);

function askFreeBytes(folder: string): number {
  const { value } = attempt(() => statfsSync(folder), undefined);
  return value === undefined ? Number.POSITIVE_INFINITY : value.bavail * value.bsize;
}
