import { readdirSync, statfsSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Account, findSpool, recallAccount } from '../account.ts';
import { readSettings, type Settings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import { type HookState, inspectHooks } from '../hooks/inspect.ts';
import { type Preferences, readPreferences } from '../preferences.ts';
import { openSpool, type Spool } from '../spool/open.ts';
import { type DaemonReport, readDaemon } from '../status/daemon.ts';
import { type AgentTranscripts, lookAtTranscripts } from '../status/transcripts.ts';
import { probeService, type ServiceFacts } from './service-facts.ts';

export interface DoctorOptions {
  /** Stands before the absolute paths of an organization's policies. */
  root?: string;
  /** Throws where a folder cannot be watched. */
  watchFolder?: (path: string) => void;
  /** Bytes free for this person on the disk of a folder. */
  freeBytes?: (folder: string) => number;
}

/** What every check may know; gathered once, and nothing is changed by it. */
export interface Facts {
  context: Context;
  state: string;
  settings: Partial<Settings>;
  /** Why the sign-in cannot be read. */
  settingsTrouble?: string;
  preferences: Preferences;
  preferencesTrouble?: string;
  service: ServiceFacts;
  /** Whose captures these are, as far as it is known. */
  account?: Account;
  daemon: DaemonReport;
  /** Absent where nothing was captured yet, or where it cannot be opened. */
  spool?: Spool;
  spoolTrouble?: string;
  /** Damaged spools that were kept aside. */
  quarantined: string[];
  transcripts: AgentTranscripts[];
  hooks: HookState[];
  watchFolder: (path: string) => void;
  freeBytes: (folder: string) => number;
}

export async function gatherFacts(context: Context, options: DoctorOptions): Promise<Facts> {
  const { watchFolder = watchOnce, freeBytes = askFreeBytes, root } = options;
  const state = stateFolder(context);
  const read = attempt(() => readSettings(context), {});
  const wished = attempt(() => readPreferences(context), {});
  const settings = read.value;
  const [service, hooks] = await Promise.all([
    probeService(context, settings),
    inspectHooks(context, root === undefined ? {} : { root }),
  ]);
  const account = service.account ?? attempt(() => recall(settings, state), undefined).value;
  const opened = attempt(() => openExisting(state, settings, account), undefined);
  const spool = opened.value;
  const looking = spool ?? openSpool(':memory:');
  const transcripts = lookAtTranscripts(context, looking, { isAsked: wished.trouble === undefined });
  if (spool === undefined) looking.close();
  return {
    ...{ context, state, settings, service, hooks, transcripts, watchFolder, freeBytes },
    ...(read.trouble && { settingsTrouble: read.trouble }),
    preferences: wished.value,
    ...(wished.trouble && { preferencesTrouble: wished.trouble }),
    ...(account && { account }),
    daemon: readDaemon(context, spool?.getMeta('daemon')),
    ...(spool && { spool }),
    ...(opened.trouble && { spoolTrouble: opened.trouble }),
    quarantined: findQuarantined(state),
  };
}

function openExisting(state: string, settings: Partial<Settings>, account: Account | undefined): Spool | undefined {
  const path = findSpool(state, settings, account);
  return path !== undefined && listNames(state).includes(basename(path)) ? openSpool(path) : undefined;
}

const recall = ({ url, secret }: Partial<Settings>, state: string): Account | undefined =>
  url && secret ? recallAccount(url, secret, state) : undefined;

const findQuarantined = (state: string): string[] =>
  listNames(state)
    .filter((name) => /\.db\.corrupt-[^.]*(\.[^.]*)?Z$/.test(name))
    .map((name) => join(state, name));

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function attempt<Value>(work: () => Value, otherwise: Value): { value: Value; trouble?: string } {
  try {
    return { value: work() };
  } catch (error) {
    return { value: otherwise, trouble: describe(error) };
  }
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
