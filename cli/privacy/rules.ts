import { isAbsolute, matchesGlob, posix, resolve } from 'node:path';
import { ancestors, realPathOf } from '../paths.ts';
import type { FolderFacts } from '../spool/decisions.ts';

/** One line of `include` or `exclude`: a folder and everything below it, or repositories by their address. */
export interface Rule {
  text: string;
  /** Whether the rule names repositories. Then only an existing folder can show whether the rule covers it. */
  isRemote: boolean;
  /** Resolves the rule's links now. Returns true if they lead to a new place. */
  follow(): boolean;
  matches(facts: FolderFacts): boolean;
}

export interface RuleOptions {
  home: string;
  platform: string;
  /** Stores where a rule's path leads, and returns every place that it has ever led to. */
  remember?: (rule: string, path: string) => readonly string[];
}

/**
 * Makes the function that decides whether a rule covers a folder in a repository with a remote. A path (`/srv/secret`,
 * `~/private/*`) covers the folder and everything below it, through any links. Any other text covers repositories by their
 * remote (`github.com/acme/billing`, `github.com/acme/*`, `github.com/acme`), in any spelling.
 */
export function toRule(text: string, { home, platform, remember = (_, path) => [path] }: RuleOptions): Rule {
  if (!isPath(text)) {
    const wanted = toPlainRemote(text);
    const isMeant = (remote: string) => parentsOf(toPlainRemote(remote)).some((at) => isMatch(at, wanted));
    return { text, isRemote: true, follow: () => false, matches: ({ remotes }) => remotes.some(isMeant) };
  }
  const path = resolve(text.replace(/^~(?=$|[/\\])/, home));
  const findPatterns = () => [path, ...remember(text, realOfPattern(path))].map((each) => comparable(each, platform));
  let patterns = findPatterns();
  return {
    text,
    isRemote: false,
    follow() {
      const known = patterns.length;
      patterns = findPatterns();
      return patterns.length > known;
    },
    matches({ paths }) {
      return paths
        .flatMap((each) => parentsOf(comparable(isAbsolute(each) ? resolve(each) : each, platform)))
        .some((at) => patterns.some((pattern) => isMatch(at, pattern)));
    },
  };
}

const isPath = (text: string) => /^(?:[/~.\\]|[A-Za-z]:(?:[/\\]|$))/.test(text);

/** Matching a pattern takes a hundred times as long as comparing strings, and most rules name one folder or repository. */
const isMatch = (path: string, pattern: string): boolean =>
  path === pattern || (MAYBE_PATTERN.test(pattern) && matchesGlob(path, pattern));

/** The characters of patterns, and the parts of a path that can be spelled in more than one way. */
const MAYBE_PATTERN = /[*?[\]{}()!+@|\\]|\/\/|\/\.{1,2}(?:\/|$)/;

/** The folder and all folders above it, with `/` between the names. */
const parentsOf = (path: string): string[] => {
  const all: string[] = [];
  for (let at = path; at !== all.at(-1); at = posix.dirname(at)) all.push(at);
  return all;
};

/** Where links lead from the part of a pattern that names one folder. */
function realOfPattern(pattern: string): string {
  const plain = ancestors(pattern).find((at) => !/[*?[\]{}!]/.test(at)) ?? pattern;
  return realPathOf(plain) + pattern.slice(plain.length);
}

/**
 * Brings a path into the form that is compared. On macOS and Windows, letter case does not matter. Windows has several
 * spellings of one path (`C:\\Work`, `c:/work`, `/c/work`, `\\\\?\\C:\\Work`).
 */
export function comparable(path: string, platform: string): string {
  if (platform === 'darwin') return path.normalize('NFC').toLowerCase();
  if (platform !== 'win32') return path;
  const plain = path.replace(/^\\\\\?\\/, '').replaceAll('\\', '/');
  return plain.replace(/^\/([A-Za-z])(?=\/|$)/, '$1:').toLowerCase();
}

/**
 * Why a line, such as `work/secret`, is neither a path nor the address of a repository. The host of an address contains a
 * dot, or the address has git's form. Undefined if the line is valid.
 */
export function findRuleProblem(text: string): string | undefined {
  const isAddress =
    /^[\w+-]+:\/\/./.test(text) || /^[^/\s]+@?[^/\s]*:./.test(text) || /^[^/\s]*[.*][^/\s]*(?:\/|$)/.test(text);
  if (isPath(text) || isAddress || text.startsWith('localhost/')) return undefined;
  return (
    `contains "${text}", which is neither a path nor the address of a repository. ` +
    `Write ~/${text} or /${text} for a folder, or github.com/${text} for a repository`
  );
}

/** `git@github.com:acme/billing.git`, `https://me@github.com/acme/billing` → `github.com/acme/billing`. */
export function toPlainRemote(remote: string): string {
  return remote
    .replace(/^\w+:\/\//, '')
    .replace(/^[^@/]*@/, '')
    .replace(/^([^/:]+):(?:\d+\/)?/, '$1/')
    .replace(/\/+$/, '')
    .replace(/\/{2,}/g, '/')
    .replace(/\.git$/, '')
    .toLowerCase();
}
