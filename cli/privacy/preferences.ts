import { isAbsolute, join, resolve } from 'node:path';
import { CATALOG } from '../../contract/catalog.ts';
import { isVisibility, type Visibility } from '../../contract/session.ts';
import type { Agent } from '../agents/agent.ts';
import { withFolders } from '../agents/more-folders.ts';
import { readJson, type StatePlace, stateFolder, writeJson } from '../config.ts';
import { EXIT, Failure } from '../failure.ts';
import { findRuleProblem } from './rules.ts';

/** The settings of `preferences.json` in the state folder. Each one may be absent. */
export interface Preferences {
  /** Folders whose sessions are captured; if absent, all folders. `~` means the home folder. */
  include?: string[];
  /** Folders, or repositories named by their remote, whose sessions are not captured. Wins over `include`. */
  exclude?: string[];
  /** Who may see new sessions of this machine, unless a stricter wish applies. Defaults to the organization's setting. */
  visibility?: Visibility;
  /** Further folders of an agent, by its id, such as those of another account. `~` means the home folder. */
  folders?: { [agent: string]: string[] };
  redaction?: {
    /** Rule ids, and whole marks such as `[REDACTED:slack-token:1f0c]`, that capture lets through. */
    allow?: string[];
  };
  spool?: {
    /** How many megabytes may wait for the service before capture stops reading; default 1,024. */
    maxMegabytes?: number;
  };
}

export const preferencesPath = (context: StatePlace): string => join(stateFolder(context), 'preferences.json');

/** Throws a `Failure` that names the file and the invalid setting. */
export function readPreferences(context: StatePlace): Preferences {
  const path = preferencesPath(context);
  const preferences = readJson<Preferences>(path, CORRECT_IT) ?? {};
  const problem = findProblem(preferences, CHECKS);
  if (problem === undefined) return preferences;
  throw new Failure(EXIT.usage, `${path}: ${problem}`, CORRECT_IT);
}

/**
 * The agents of this machine, with the further folders that the person names. As long as the preferences have an error, nothing
 * is captured, so their folders do not matter.
 */
export function withMoreFolders<Where extends StatePlace & { agents: readonly Agent[] }>(context: Where): Where {
  let folders: Preferences['folders'];
  try {
    folders = readPreferences(context).folders;
  } catch {
    return context;
  }
  if (folders === undefined) return context;
  const named = new Map(Object.entries(folders));
  const toPath = (folder: string) => resolve(folder.replace(/^~(?=$|[/\\])/, context.home));
  const agents = context.agents.map((agent) => withFolders(agent, (named.get(agent.id) ?? []).map(toPath)));
  return { ...context, agents };
}

/** Stores who may see new sessions. The other settings stay as they are. */
export function writeVisibility(context: StatePlace, visibility: Visibility): void {
  writeJson(preferencesPath(context), { ...readPreferences(context), visibility });
}

const CORRECT_IT = 'Correct the file; nothing is captured until then.';

const areTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
const isPositive = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value > 0;

/** Returns the problem of a value, if it has one. */
type Find = (value: unknown) => string | undefined;
type Check = Find | { readonly [name: string]: Check };

const findTextsProblem: Find = (value) => (areTexts(value) ? undefined : 'must be a list of texts');
const findRulesProblem: Find = (value) =>
  areTexts(value) ? value.map(findRuleProblem).find((problem) => problem !== undefined) : findTextsProblem(value);
const findFoldersProblem: Find = (value) => {
  if (!areTexts(value)) return findTextsProblem(value);
  // A path of another system would be taken for a folder in the current one.
  return value.every((path) => /^~(?:$|[/\\])/.test(path) || isAbsolute(path))
    ? undefined
    : 'must be a list of folders, such as "~/.claude-work"';
};
const NAMES = 'team, facts or private';
const CHECKS: Check = {
  include: findRulesProblem,
  exclude: findRulesProblem,
  visibility: (value) => (isVisibility(value) ? undefined : `must be ${NAMES}`),
  folders: Object.fromEntries(CATALOG.map(({ agentId }) => [agentId, findFoldersProblem])),
  redaction: { allow: findTextsProblem },
  spool: { maxMegabytes: (value) => (isPositive(value) ? undefined : 'must be a number above 0') },
};

/** The names of the settings. */
export const SETTINGS: readonly string[] = Object.keys(CHECKS);

function findProblem(value: unknown, check: Check): string | undefined {
  if (typeof check === 'function') return check(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object';
  for (const [name, inner] of Object.entries(value)) {
    const known = new Map(Object.entries(check)).get(name);
    const problem = known ? findProblem(inner, known) : 'is not a setting';
    if (problem !== undefined) return `"${name}" ${problem}`;
  }
  return undefined;
}
