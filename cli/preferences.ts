import { join } from 'node:path';
import { readJson, stateFolder } from './config.ts';
import type { Context } from './context.ts';
import { EXIT, Failure } from './failure.ts';

/** What a person may set in `preferences.json` in the state folder; every part may be absent. */
export interface Preferences {
  /** Folders whose sessions are captured; all of them where absent. `~` stands for the home folder. */
  include?: string[];
  /** Folders, or repositories by their remote, whose sessions are not captured. Wins over `include`. */
  exclude?: string[];
  redaction?: {
    /** Rule ids, and whole marks such as `[REDACTED:slack-token:1f0c]`, that are let through. */
    allow?: string[];
  };
  spool?: {
    /** What may wait for the service before capture stops reading, in megabytes; default 1,024. */
    maxMegabytes?: number;
    /** The age from which waiting events are warned about, in days; default 30. */
    maxDays?: number;
  };
}

export const preferencesPath = (context: Pick<Context, 'variables' | 'home'>): string =>
  join(stateFolder(context), 'preferences.json');

/** Throws a `Failure` that names the file and the setting where something in it is not as it must be. */
export function readPreferences(context: Pick<Context, 'variables' | 'home'>): Preferences {
  const path = preferencesPath(context);
  const preferences = readJson<unknown>(path) ?? {};
  const problem = findProblem(preferences);
  if (problem === undefined) return preferences as Preferences;
  throw new Failure(EXIT.usage, `${path}: ${problem}`, 'Correct the file; nothing is captured until then.');
}

type Check = (value: unknown) => string | undefined;

const texts: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? undefined : 'must be a list of texts';

const positive: Check = (value) =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? undefined : 'must be a number above 0';

const object =
  (checks: { [name: string]: Check }): Check =>
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object';
    for (const [name, inner] of Object.entries(value)) {
      const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
      const problem = check ? check(inner) : 'is no setting';
      if (problem !== undefined) return `"${name}" ${problem}`;
    }
    return undefined;
  };

const findProblem = object({
  include: texts,
  exclude: texts,
  redaction: object({ allow: texts }),
  spool: object({ maxMegabytes: positive, maxDays: positive }),
});
