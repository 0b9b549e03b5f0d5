import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GapKind } from '../../contract/gap-kinds.ts';
import type { Agent } from '../agents/agent.ts';
import { rootsIn } from '../agents/more-folders.ts';
import { storeOf } from '../agents/store.ts';
import type { Context } from '../context.ts';
import { codeOf } from '../failure.ts';
import { isInside } from '../paths.ts';
import type { Transcript } from './discover.ts';
import { KNOWN_FOLDERS, type KnownFolder } from './known-folders.ts';
import { withDatabase } from './stored/source.ts';

/** What capture does not read, or does not understand, with the names that stay on this machine. */
export interface LocalGap {
  kind: GapKind;
  agent: string;
  /** The agent's name for people. */
  name: string;
  version?: string;
  count: number;
  /** The ending, table or folder, or the types of records. */
  what?: string;
  /** Why no reader exists. */
  reason?: string;
}

type Where = Pick<Context, 'variables' | 'home' | 'agents'>;

const of = ({ id, displayName }: Agent) => ({ agent: id, name: displayName });

/** A transcript that was packed or named by a version that this program does not know. */
const PACKED = /^(.*\.jsonl?)(\.[a-z0-9]{1,8})$/i;
/** Endings of copies that editors and programs leave behind. */
const COPIES = new Set(['.bak', '.tmp', '.temp', '.lock', '.swp', '.orig', '.old', '.part']);

/** Files beside an agent's transcripts that would be transcripts without their last ending. */
export function findPacked(agent: Agent, others: Iterable<string>): LocalGap[] {
  const endings = [...others].flatMap((path) => {
    const [, plain = '', ending = ''] = PACKED.exec(path) ?? [];
    const isPacked = ending !== '' && !COPIES.has(ending.toLowerCase()) && agent.isTranscript(plain);
    return isPacked ? [ending.toLowerCase()] : [];
  });
  return [...Map.groupBy(endings, (ending) => ending)].map(([ending, { length: count }]) => ({
    ...{ kind: 'ending', ...of(agent), what: `.jsonl${ending}`, count },
  }));
}

/** Sessions in tables of an agent's databases that its reader does not know. */
export function findTables(agent: Agent, found: readonly Pick<Transcript, 'root' | 'path'>[]): LocalGap[] {
  const counts = new Map<string, number>();
  for (const { root, path } of found) {
    const store = storeOf(agent, path);
    if (store?.kind !== 'database' || store.unknown === undefined) continue;
    try {
      for (const { table, count } of withDatabase(join(root, path), store.unknown)) {
        counts.set(table, (counts.get(table) ?? 0) + count);
      }
    } catch {
      // A database that cannot be read is reported when its sessions are.
    }
  }
  return [...counts].map(([table, count]) => ({ ...{ kind: 'table', ...of(agent), what: table, count } }));
}

/**
 * Folders with sessions that no reader reads: folders of an agent for another account, and folders of agents that have no
 * reader.
 */
export function findFolders({ variables, home, agents }: Where): LocalGap[] {
  const names = list(home).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  const roots = new Set(agents.flatMap((agent) => agent.roots(variables, home)));
  return [
    ...agents.flatMap((agent) => findFurther(agent, names, roots, home)),
    ...KNOWN_FOLDERS.flatMap((known) => findKnown(known, agents, [...roots], home)),
  ];
}

/** Another account of an agent has a folder beside the agent's own, with a longer name. A variable may name another one. */
function findFurther(agent: Agent, names: readonly string[], roots: ReadonlySet<string>, home: string): LocalGap[] {
  const own = agent.folder?.({}, home);
  if (own === undefined || dirname(own) !== home) return [];
  const begins = [`${own}-`, `${own}_`, `${own}.`];
  return names.flatMap((name): LocalGap[] => {
    const folder = join(home, name);
    if (folder !== own && !begins.some((begin) => folder.startsWith(begin))) return [];
    const ownRoots = agent.roots({}, home).filter((root) => isInside(root, folder));
    const unread = (folder === own ? ownRoots : rootsIn(agent, folder, home)).filter((root) => !roots.has(root));
    const count = unread.reduce((sum, root) => sum + countFiles(root, agent.isTranscript, agent.entersFolder), 0);
    return count === 0 ? [] : [{ kind: 'folder', ...of(agent), what: folder, count }];
  });
}

function findKnown(known: KnownFolder, agents: readonly Agent[], roots: readonly string[], home: string): LocalGap[] {
  const { agent, name, folders, sessions, reason } = known;
  if (agents.some(({ id }) => id === agent)) return [];
  return folders.flatMap((below): LocalGap[] => {
    const folder = join(home, below);
    // Many folders are in the home folder.
    if (roots.some((root) => isInside(folder, root) || (folder !== home && isInside(root, folder)))) return [];
    const count = countFiles(
      folder,
      (path) => sessions.test(path),
      () => below !== '.',
    );
    return count === 0 ? [] : [{ kind: 'agent', agent, name, what: folder, count, ...(reason && { reason }) }];
  });
}

/** A folder of another agent may be large, and a rough number is enough. */
const MAX_ENTRIES = 2000;

/** Counts files by their paths, without a look at any of them. Stops after a number of entries. */
function countFiles(root: string, isCounted: (path: string) => boolean, enters: Agent['entersFolder']): number {
  const folders = [''];
  let count = 0;
  let left = MAX_ENTRIES;
  for (const path of folders) {
    for (const entry of list(join(root, path))) {
      if (left-- === 0) return count;
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory() && (enters?.(inner) ?? true)) folders.push(inner);
      else if (entry.isFile() && isCounted(inner)) count++;
    }
  }
  return count;
}

/** The entries of a folder; none if it does not exist or cannot be read. */
function list(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return [];
  }
}
