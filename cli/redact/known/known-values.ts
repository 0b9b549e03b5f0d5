import type { Variables } from '../../agents/agent.ts';
import type { Found } from './pair.ts';
import { readFolder, readHome, readVariables } from './sources.ts';
import { isWorthKnowing } from './worth.ts';

export interface KnownValuesOptions {
  variables: Variables;
  home: string;
  /** Absolute paths of further files that hold secrets, in JSON or a pair a line; most will not exist. */
  credentials?: readonly string[];
  cwds?: readonly string[];
  secrets?: readonly string[];
  now?: () => number;
}

export interface KnownValues {
  values(): string[];
  /** Whether the folder told something new. */
  learn(cwd: string): boolean;
}

/** Tokens are renewed and `.env` files are written while sessions run. What was a secret once stays one. */
const REREAD_AFTER = 10_000;

/** The machine's own secrets, read when they are first needed and again from time to time. */
export function createKnownValues(options: KnownValuesOptions) {
  const { variables, home, credentials = [], cwds = [], secrets = [], now = Date.now } = options;
  const values = new Set<string>(secrets.filter((secret) => secret.length >= 8));
  const folders = new Map<string, number>();
  let homeReadAt = now();

  function add(found: readonly Found[]): void {
    for (const { value, named } of found) {
      if (isWorthKnowing(value, named) && !isPartOfPath(value)) values.add(value);
    }
  }

  function isPartOfPath(value: string): boolean {
    return home.includes(value) || [...folders.keys()].some((folder) => folder.includes(value));
  }

  function learn(cwd: string): boolean {
    const time = now();
    const readAt = folders.get(cwd);
    if (readAt !== undefined && time - readAt < REREAD_AFTER) return false;
    const before = values.size;
    folders.set(cwd, time);
    add(readFolder(cwd, home));
    if (time - homeReadAt >= REREAD_AFTER) {
      homeReadAt = time;
      add(readHome(variables, home, credentials));
    }
    return values.size > before;
  }

  add(readVariables(variables));
  add(readHome(variables, home, credentials));
  for (const cwd of cwds) learn(cwd);
  return { values: () => [...values], learn } satisfies KnownValues;
}

/** All of them at once, for a reader that keeps no redactor. */
export function loadKnownValues(options: KnownValuesOptions): string[] {
  return createKnownValues(options).values();
}
