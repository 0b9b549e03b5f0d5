import { statSync } from 'node:fs';
import { isAbsolute, join, matchesGlob, resolve } from 'node:path';
import type { Origin } from '../agents/agent.ts';
import { readJson, type StatePlace, stateFolder, writeJson } from '../config.ts';
import type { Context } from '../context.ts';
import { codeOf } from '../failure.ts';
import { ancestors } from '../paths.ts';
import { readPlainFile } from '../plain-file.ts';
import { type Preferences, preferencesPath, readPreferences } from '../preferences.ts';
import { createReach } from '../reach.ts';
import { findRepository, LONGEST_PATH } from '../repository.ts';

/** What a person, and the folders they work in, want captured. */
export interface Policy {
  /** Takes in changed settings; true where there were any. Call it before each look for transcripts. */
  refresh(): boolean;
  /** Why a session is left out; undefined where it is captured. */
  objection(agent: string, origin: Pick<Origin, 'session' | 'cwd'>): string | undefined;
}

/** How long what a folder says is believed. */
const BELIEVE_MS = 10_000;

export function createPolicy(context: StatePlace & Pick<Context, 'now'>, isReachable = createReach(context)): Policy {
  const { home, now } = context;
  let stamp: string | undefined;
  let rules = toRules({}, home);
  let skipped: ReadonlySet<string> = new Set();
  const folders = new Map<string, { reason: string | undefined; until: number }>();

  function objectionOfFolder(folder: string): string | undefined {
    const known = folders.get(folder);
    if (known && known.until > now()) return known.reason;
    const reason = isReachable(folder)
      ? findReason(rules, folder)
      : 'its folder is on a file server that does not answer';
    folders.set(folder, { reason, until: now() + BELIEVE_MS });
    return reason;
  }

  return {
    refresh() {
      const current = [preferencesPath(context), skippedPath(context)].map(stampOf).join();
      if (current === stamp) return false;
      rules = toRules(readPreferences(context), home);
      skipped = readSkipped(context);
      folders.clear();
      stamp = current;
      return true;
    },
    objection(agent, { session, cwd }) {
      if (skipped.has(nameSession(agent, session))) return 'taken out with `capture skip`';
      if (cwd !== undefined && cwd.length > LONGEST_PATH) return 'its folder is longer than folders can be';
      if (cwd !== undefined) return objectionOfFolder(cwd);
      // Where a folder is asked for, a session without one is not the one that was meant.
      if (rules.include) return 'its folder is not known, and only some are included';
      return rules.exclude.length > 0 ? 'its folder is not known, and some are excluded' : undefined;
    },
  };
}

const toRules = ({ include, exclude = [] }: Preferences, home: string) => ({
  include: include?.map((text) => toPattern(text, home)),
  exclude: exclude.map((text) => ({ text, matches: toPattern(text, home) })),
});

function findReason({ include, exclude }: ReturnType<typeof toRules>, folder: string): string | undefined {
  const remote = findRepository(folder)?.remote;
  const excluded = exclude.find(({ matches }) => matches(folder, remote));
  if (excluded) return `"${excluded.text}" is excluded`;
  if (include && !include.some((matches) => matches(folder, remote))) return 'it is not in an included folder';
  return findObjection(folder);
}

function stampOf(path: string): string {
  const { size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return `${size} ${mtimeMs}`;
}

/** Committed to a repository, or laid into any folder, it says for everybody whether sessions there are captured. */
export const FOLDER_FILE = '.session-capture.json';

/** It holds one setting. */
const MOST_BYTES = 64 * 1024;

/**
 * Why the nearest `.session-capture.json`, in the folder or above it, is against capturing; undefined where it is not.
 * One that cannot be understood is against it. A folder of another system, `C:\\work`, would count from where we are.
 */
export function findObjection(folder: string): string | undefined {
  for (const at of isAbsolute(folder) ? ancestors(folder) : []) {
    const path = join(at, FOLDER_FILE);
    try {
      const wish = JSON.parse(readPlainFile(path, MOST_BYTES).toString('utf8')) as { capture?: unknown } | null;
      if (wish?.capture === true) return undefined;
      if (wish?.capture === false) return `${path} says so`;
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) continue;
    }
    return `${path} is not {"capture": true} or {"capture": false}`;
  }
  return undefined;
}

/** How sessions are named that their person has taken out of capturing. */
export const nameSession = (agent: string, session: string): string => `${agent} ${session}`;

const skippedPath = (context: StatePlace) => join(stateFolder(context), 'skipped.json');

export const readSkipped = (context: StatePlace): Set<string> => new Set(readJson<string[]>(skippedPath(context)));

export const writeSkipped = (context: StatePlace, skipped: ReadonlySet<string>): void =>
  writeJson(skippedPath(context), [...skipped]);

/**
 * Makes what tells whether a session of a folder, in a repository with a remote, is meant. A path (`/srv/secret`,
 * `~/private/*`) means the folder and all below it, anything else a repository by its remote
 * (`github.com/acme/billing`, `github.com/acme/*`), however that is spelled.
 */
export function toPattern(text: string, home: string): (folder: string, remote: string | undefined) => boolean {
  if (!/^(?:[/~.\\]|[A-Za-z]:)/.test(text)) {
    const wanted = toPlainRemote(text);
    return (_, remote) => remote !== undefined && matchesGlob(toPlainRemote(remote), wanted);
  }
  const path = resolve(text.replace(/^~(?=$|[/\\])/, home));
  return (folder) => ancestors(folder).some((at) => at === path || matchesGlob(at, path));
}

/** `git@github.com:acme/billing.git`, `https://me@github.com/acme/billing` → `github.com/acme/billing`. */
export function toPlainRemote(remote: string): string {
  return remote
    .replace(/^\w+:\/\//, '')
    .replace(/^[^@/]*@/, '')
    .replace(/^([^/:]+):(?:\d+\/)?/, '$1/')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .toLowerCase();
}
