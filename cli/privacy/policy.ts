import { statSync } from 'node:fs';
import type { Origin } from '../agents/agent.ts';
import type { Context } from '../context.ts';
import { type Preferences, preferencesPath, readPreferences } from '../preferences.ts';
import { createReach } from '../reach.ts';
import { findRepository, LONGEST_PATH } from '../repository.ts';
import { findObjection } from './folder-file.ts';
import { type Pattern, toPattern } from './patterns.ts';
import { nameSession, readSkipped, type Skipped, skippedPath } from './skipped.ts';

/** What a person, and the folders they work in, want captured. */
export interface Policy {
  /** Takes in changed settings; true where there were any. Call it before each look for transcripts. */
  refresh(): boolean;
  /** Why a session is left out; undefined where it is captured. */
  objection(agent: string, origin: Pick<Origin, 'session' | 'cwd'>): string | undefined;
}

/** How long what a folder says is believed. */
const BELIEVE_MS = 10_000;

export function createPolicy(
  context: Pick<Context, 'variables' | 'home' | 'now'>,
  isReachable = createReach(context),
): Policy {
  const { home, now } = context;
  let stamp: string | undefined;
  let rules = toRules({}, home);
  let skipped: Skipped = new Set();
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
      return rules.include === undefined ? undefined : 'its folder is not known, and only some are included';
    },
  };
}

interface Rules {
  include: Pattern[] | undefined;
  exclude: (readonly [text: string, pattern: Pattern])[];
}

const toRules = ({ include, exclude = [] }: Preferences, home: string): Rules => ({
  include: include?.map((text) => toPattern(text, home)),
  exclude: exclude.map((text) => [text, toPattern(text, home)] as const),
});

function findReason({ include, exclude }: Rules, folder: string): string | undefined {
  const remote = findRepository(folder)?.remote;
  const excluded = exclude.find(([, matches]) => matches(folder, remote));
  if (excluded) return `"${excluded[0]}" is excluded`;
  if (include && !include.some((matches) => matches(folder, remote))) return 'it is not in an included folder';
  return findObjection(folder);
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.size} ${stat.mtimeMs}`;
}
