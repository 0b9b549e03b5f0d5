import { existsSync, readdirSync, statfsSync, statSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Account, findSpool, recallAccount } from '../account.ts';
import { readSettings, type Settings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { MAX_DAYS, MAX_MEGABYTES, MEGABYTE } from '../daemon/limits.ts';
import { describe } from '../failure.ts';
import { type Preferences, readPreferences } from '../preferences.ts';
import { ownPlaces } from '../read/places.ts';
import { openSpool, type Spool } from '../spool/open.ts';
import { type DaemonState, inspectDaemon } from './daemon.ts';
import { askService, type ServiceAnswer } from './service.ts';
import { type AgentTranscripts, inspectTranscripts } from './transcripts.ts';

/** What is so on this machine: what `capture status` and `capture doctor` put into words. */
export interface Inspection {
  /** Milliseconds since 1970. */
  now: number;
  state: string;
  settings: Partial<Settings>;
  service: ServiceAnswer;
  /** Whose captures these are, as far as it is known. */
  account?: Account;
  daemon: DaemonState;
  agents: AgentTranscripts[];
  /** Absent where nothing was captured yet, or where it cannot be opened. */
  spool?: SpoolState;
  /** Damaged spools that were kept. */
  damaged: string[];
  freeBytes: number;
  /** The first of the agents' folders that the system gives no notices of, and why. */
  unwatched?: { root: string; reason: string };
  /** What cannot be read, and why. */
  unreadable: { settings?: string; preferences?: string; spool?: string };
}

export type SpoolState = ReturnType<typeof readSpool>;

export interface InspectOptions {
  /** Bytes free for this person on the disk of a folder. */
  freeBytes?: (folder: string) => number;
  /** Throws where a folder cannot be watched. */
  watchFolder?: (path: string) => void;
}

/**
 * Gathers it once. Writes nothing, runs no program of an agent, and registers nothing at the service; what cannot be
 * known is absent, whatever the reason.
 */
export async function inspect(
  context: Context,
  { freeBytes = askFreeBytes, watchFolder = watchOnce }: InspectOptions = {},
): Promise<Inspection> {
  const state = stateFolder(context);
  const sign = attempt(() => readSettings(context), {});
  const wished = attempt<Preferences>(() => readPreferences(context), {});
  const settings = sign.value;
  const service = await askService(context, settings);
  const account = service.account ?? attempt(() => recall(settings, state), undefined).value;
  const opened = attempt(() => openLatest(state, settings, account), undefined);
  const spool = opened.value ?? openSpool(':memory:');
  const unwatched = findUnwatched(context, watchFolder);
  try {
    const agents = inspectTranscripts(context, spool, wished.trouble === undefined);
    return {
      ...{ now: context.now(), state, settings, service, agents },
      ...(account && { account }),
      daemon: inspectDaemon(state, spool.getMeta('daemon'), context.now()),
      ...(opened.value && { spool: readSpool(spool, wished.value) }),
      damaged: listNames(state, /\.db\.corrupt-[^.]*(\.[^.]*)?Z$/),
      freeBytes: freeBytes(state),
      ...(unwatched && { unwatched }),
      unreadable: {
        ...(sign.trouble && { settings: sign.trouble }),
        ...(wished.trouble && { preferences: wished.trouble }),
        ...(opened.trouble && { spool: opened.trouble }),
      },
    };
  } finally {
    spool.close();
  }
}

function readSpool(spool: Spool, preferences: Preferences) {
  const lastUpload = spool.getMeta('lastUploadAt');
  const lastError = spool.getMeta('lastError');
  const { maxMegabytes = MAX_MEGABYTES, maxDays = MAX_DAYS } = preferences.spool ?? {};
  return {
    ...{ capBytes: maxMegabytes * MEGABYTE, capDays: maxDays },
    waiting: spool.batches.depth(),
    counters: spool.counters(),
    refused: spool.refused.perProblem(),
    held: spool.notice('held'),
    /** Whether the daemon has stopped reading for it. */
    isFull: spool.notice('full') !== undefined,
    notices: spool.notices(),
    /** Those that nothing else here tells of: of the spool's size, say, `waiting` does. */
    others: [spool.notice('heldSome'), spool.notice('replaced')].filter((notice) => notice !== undefined),
    sent: spool.sessions.perAgent(),
    ...(lastUpload !== undefined && { lastUploadAt: new Date(Number(lastUpload)).toISOString() }),
    // One that sending has gone on after is none any more.
    ...(lastError !== undefined && !(Date.parse(lastError.slice(0, 24)) < Number(lastUpload)) && { lastError }),
  };
}

/** Signed out it is that of who was signed in last: what waits in it does not vanish with the sign-in. */
function openLatest(state: string, settings: Partial<Settings>, account: Account | undefined): Spool | undefined {
  const all = listNames(state, /^spool(-[0-9a-f]+)?\.db$/);
  const own = findSpool(state, settings, account);
  const latest = all.sort((one, other) => changedAt(one) - changedAt(other)).at(-1);
  const path = settings.secret === undefined || own === undefined ? latest : own;
  return path !== undefined && all.includes(path) ? openSpool(path) : undefined;
}

const changedAt = (path: string) =>
  Math.max(...[path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0));

const recall = ({ url, secret }: Partial<Settings>, state: string): Account | undefined =>
  url && secret ? recallAccount(url, secret, state) : undefined;

function listNames(folder: string, pattern: RegExp): string[] {
  const names = attempt(() => readdirSync(folder), []).value;
  return names.filter((name) => pattern.test(name)).map((name) => join(folder, name));
}

function attempt<Value>(work: () => Value, otherwise: Value): { value: Value; trouble?: string } {
  try {
    return { value: work() };
  } catch (error) {
    return { value: otherwise, trouble: describe(error) };
  }
}

function findUnwatched(context: Context, watchFolder: (path: string) => void): Inspection['unwatched'] {
  const roots = [...new Set(ownPlaces(context).map(({ root }) => root))].filter((root) => existsSync(root));
  for (const root of roots) {
    const { trouble } = attempt(() => watchFolder(root), undefined);
    if (trouble !== undefined) return { root, reason: trouble };
  }
  return undefined;
}

/** Asks the system for a watch, and gives it back. */
function watchOnce(path: string): void {
  watch(path, { persistent: false }).close();
}

function askFreeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return dirname(folder) === folder ? Number.POSITIVE_INFINITY : askFreeBytes(dirname(folder));
  }
}
