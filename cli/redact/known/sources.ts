import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Variables } from '../../agents/agent.ts';
import { readPlainFile } from '../../plain-file.ts';
import { HOME_FILES } from './files.ts';
import { type Found, readPair } from './pair.ts';
import { readJson, readPairs } from './readers.ts';

const LARGEST_FILE = 4 * 1024 * 1024;
const PARENTS = 8;
const CHILDREN = 100;

export function readVariables(variables: Variables): Found[] {
  return Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : readPair(name, value)));
}

export function readHome(variables: Variables, home: string, credentials: readonly string[]): Found[] {
  const files = [...HOME_FILES, { at: () => credentials, read: readJson }];
  return files.flatMap(({ at, read }) =>
    at(variables, home).flatMap((path) => {
      const text = readText(path);
      return text === undefined ? [] : read(text);
    }),
  );
}

/** The `.env` files of a folder, of its direct children (a repository of several packages) and up to the repository's root. */
export function readFolder(cwd: string, home: string): Found[] {
  if (cwd === '' || dirname(cwd) === cwd) return [];
  const found = readEnvironmentFiles(cwd);
  for (const entry of list(cwd).slice(0, CHILDREN)) {
    if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.')) {
      found.push(...readEnvironmentFiles(join(cwd, entry.name)));
    }
  }
  let folder = cwd;
  for (let level = 0; level < PARENTS && folder !== home && !hasRepository(folder); level++) {
    folder = dirname(folder);
    if (folder === home || folder === dirname(folder)) break;
    found.push(...readEnvironmentFiles(folder));
  }
  return found;
}

const ENVIRONMENT_FILE =
  /^(?:\.env(?:rc|\..+)?|.+\.env|\.dev\.vars|\.npmrc|\.pypirc|local\.settings\.json|terraform\.tfvars)$/;
/** Checked in for others to copy, so what they hold is no secret. */
const TEMPLATE = /\.(?:example|sample|template|dist|defaults?|schema)$/i;

function readEnvironmentFiles(folder: string): Found[] {
  return list(folder)
    .filter((entry) => !entry.isDirectory() && ENVIRONMENT_FILE.test(entry.name) && !TEMPLATE.test(entry.name))
    .flatMap((entry) => readPairs(readText(join(folder, entry.name)) ?? ''));
}

const hasRepository = (folder: string): boolean => existsSync(join(folder, '.git'));

function list(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Password managers put pipes where `.env` was, which ask their owner for a password. */
function readText(path: string): string | undefined {
  try {
    return readPlainFile(path, LARGEST_FILE).toString('utf8');
  } catch {
    return undefined;
  }
}
