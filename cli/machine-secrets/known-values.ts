import { normalize } from 'node:path';
import type { Variables } from '../agents/agent.ts';
import { isLocal } from './local.ts';
import type { SecretCandidate } from './readers.ts';
import { findRepository, readHome, readRepository, readVariables } from './sources.ts';
import { isWorthKnowing } from './worth.ts';

export interface KnownValuesOptions {
  variables: Variables;
  home: string;
  /** Absolute paths of the agents' credentials, as JSON or one pair per line. Most will not exist. */
  credentials?: readonly string[];
  /** Further secrets of this machine: the capture program's own. */
  secrets?: readonly string[];
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** Sessions last, and meanwhile tokens are renewed and `.env` files are written. A value that was once a secret stays one. */
const REREAD_AFTER = 10_000;
/**
 * The most characters of all values of one repository, since anybody may have written its `.env`. With their forms, they take
 * some 2 MB.
 */
const MAX_LETTERS = 65_536;

const MAX_FOLDERS = 1000;

/** Without this limit, the author of a `.env` could make text with blanks and code vanish from a session. */
const CODE = /[\s(){}[\]<>;"'`|\\]/;

/**
 * Calls `add` with the machine's own secrets now, and again from time to time. Secrets of the process environment and the
 * home folder apply everywhere. Secrets of a folder's `.env` files apply in the folder's repository. Returns a function that
 * reads a folder and returns the root of that repository. It is cheap for a known folder, so call it for each record.
 */
export function createKnownValues(
  { variables, home, credentials = [], secrets = [], now = Date.now }: KnownValuesOptions,
  add: (secret: string, root?: string) => unknown,
): (folder: string) => string | undefined {
  const folders = new Map<string, { root: string | undefined; readAt: number }>();
  const letters = new Map<string | undefined, number>();
  let homeReadAt = now();

  function addFound(found: readonly SecretCandidate[], root?: string): void {
    for (const { value, named } of found) {
      if (!isWorthKnowing(value, named) || isPartOfPath(value)) continue;
      const sum = (letters.get(root) ?? 0) + value.length;
      if (root !== undefined && (CODE.test(value) || sum > MAX_LETTERS)) continue;
      if (add(value, root)) letters.set(root, sum);
    }
  }

  function isPartOfPath(value: string): boolean {
    return home.includes(value) || folders.keys().some((folder) => folder.includes(value));
  }

  for (const secret of secrets) if (secret.length >= 8) add(secret);
  addFound(readVariables(variables));
  addFound(readHome(variables, home, credentials));

  return (folder) => {
    if (now() - homeReadAt >= REREAD_AFTER) {
      homeReadAt = now();
      addFound(readHome(variables, home, credentials));
    }
    const known = folders.get(folder);
    if (known !== undefined && now() - known.readAt < REREAD_AFTER) return known.root;
    const repository = isLocal(folder, home) ? findRepository(normalize(folder), home) : undefined;
    if (folders.size >= MAX_FOLDERS) folders.clear();
    folders.set(folder, { root: repository?.root, readAt: now() });
    if (repository !== undefined) addFound(readRepository(repository), repository.root);
    return repository?.root;
  };
}
