import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Variables } from '../../agents/agent.ts';
import { readPlainFile } from '../../plain-file.ts';
import { findRoot } from '../../repository.ts';
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

export interface Repository {
  /** The folder itself where it is in no repository. */
  root: string;
  /** The folder and those above it, as far as the root of the repository or the home folder. */
  folders: string[];
}

/** Undefined for the home folder and the root of the file system. */
export function findRepository(folder: string, home: string): Repository | undefined {
  const root = findRoot(folder);
  const folders: string[] = [];
  for (let at = folder; folders.length <= PARENTS && at !== home && at !== dirname(at); at = dirname(at)) {
    folders.push(at);
    if (at === root) return { root, folders };
  }
  return folders.length === 0 ? undefined : { root: folder, folders };
}

/** The `.env` files of a folder, of its direct children (a repository of several packages) and up to the repository's root. */
export function readRepository({ folders }: Repository): Found[] {
  const [folder = ''] = folders;
  const children = list(folder)
    .slice(0, CHILDREN)
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'));
  return [...folders, ...children.map(({ name }) => join(folder, name))].flatMap(readEnvironmentFiles);
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
