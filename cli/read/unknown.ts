import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { rootsIn } from '../agents/more-folders.ts';
import { storeOf } from '../agents/store.ts';
import type { Context } from '../context.ts';
import { findTranscripts, isTranscriptOf } from './discover.ts';
import { withDatabase } from './stored/source.ts';

/** Data of an agent that looks like sessions, and that no reader reads. */
export type UnknownData =
  /** Transcripts with a further ending, such as `.zst`. */
  | { kind: 'files'; ending: string; count: number }
  /** Sessions in a table of a database. */
  | { kind: 'table'; table: string; count: number }
  /** Transcripts in a folder that is named like the agent's own, such as `.claude-work` for another account. */
  | { kind: 'folder'; folder: string; count: number };

type Where = Pick<Context, 'variables' | 'home'>;

/** A transcript that was packed or named by a version that this program does not know. */
const PACKED = /^(.*\.jsonl?)(\.[a-z0-9]{1,8})$/i;
/** Endings of copies that editors and programs leave behind. */
const COPIES = new Set(['.bak', '.tmp', '.temp', '.lock', '.swp', '.orig', '.old', '.part']);

/** Finds data of an agent that looks like sessions, and that no reader reads. It writes nothing. */
export function findUnknown(where: Where, agent: Agent): UnknownData[] {
  return [...findPacked(where, agent), ...findTables(where, agent), ...findFolders(where, agent)];
}

function findPacked({ variables, home }: Where, agent: Agent): UnknownData[] {
  const endingOf = (path: string): string | undefined => {
    const [, plain = '', ending = ''] = PACKED.exec(path) ?? [];
    const isPacked = ending !== '' && !COPIES.has(ending.toLowerCase());
    return isPacked && !isTranscriptOf(agent, path) && agent.isTranscript(plain) ? ending.toLowerCase() : undefined;
  };
  const packed = { ...agent, isTranscript: (path: string) => endingOf(path) !== undefined };
  const places = agent.roots(variables, home).map((root) => ({ agent: packed, root, below: '' }));
  const found = findTranscripts(places, () => {});
  return [...Map.groupBy(found, ({ path }) => endingOf(path) as string)].map(([ending, { length: count }]) => ({
    kind: 'files',
    ending: `.jsonl${ending}`,
    count,
  }));
}

function findTables({ variables, home }: Where, agent: Agent): UnknownData[] {
  if (agent.store === undefined) return [];
  const places = agent.roots(variables, home).map((root) => ({ agent, root, below: '' }));
  const counts = new Map<string, number>();
  for (const { root, path } of findTranscripts(places, () => {})) {
    const store = storeOf(agent, path);
    if (store?.kind !== 'database' || store.unknown === undefined) continue;
    const { unknown } = store;
    try {
      for (const { table, count } of withDatabase(join(root, path), unknown)) {
        counts.set(table, (counts.get(table) ?? 0) + count);
      }
    } catch {
      // A database that cannot be read is reported when its sessions are.
    }
  }
  return [...counts].map(([table, count]) => ({ kind: 'table', table, count }));
}

/** Another account of an agent has a folder beside the agent's own, with a longer name. */
function findFolders({ variables, home }: Where, agent: Agent): UnknownData[] {
  const own = agent.folder?.({}, home);
  if (own === undefined || dirname(own) !== home || !existsSync(home)) return [];
  const begins = [`${own}-`, `${own}_`, `${own}.`];
  const read = new Set(agent.roots(variables, home));
  return readdirSync(home, { withFileTypes: true }).flatMap((entry): UnknownData[] => {
    const folder = join(home, entry.name);
    if (!entry.isDirectory() || !begins.some((begin) => folder.startsWith(begin))) return [];
    const roots = rootsIn(agent, folder, home).filter((root) => !read.has(root));
    const places = roots.map((root) => ({ agent, root, below: '' }));
    const count = findTranscripts(places, () => {}).length;
    return count === 0 ? [] : [{ kind: 'folder', folder, count }];
  });
}
