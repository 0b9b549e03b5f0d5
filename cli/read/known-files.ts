import { basename, join } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import type { Context } from '../context.ts';
import type { FileCursor, FileRow } from '../spool/files.ts';
import { type Bytes, openBytes } from './bytes.ts';
import { continues } from './cursor.ts';
import { findTranscripts } from './discover.ts';

/** Finds unchanged transcripts that their agents have moved, as Codex does when it archives one. */
export class MovedTranscripts {
  readonly #context: Context;
  /** Paths by agent and file name, collected on first use. */
  #paths: Map<string, string[]> | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  find({ agent, path, cursor }: FileRow): string | undefined {
    if (cursor.kind !== 'file') return undefined;
    this.#paths ??= this.#list();
    return this.#paths.get(`${agent} ${basename(path)}`)?.find((moved) => isContinued(moved, cursor));
  }

  #list(): Map<string, string[]> {
    const { agents, variables, home } = this.#context;
    const places = agents.flatMap((agent) => agent.roots(variables, home).map((root) => ({ agent, root, below: '' })));
    const all = findTranscripts(places, () => {}).map(({ agent, root, path }) => ({ agent, path: join(root, path) }));
    const groups = Map.groupBy(all, ({ agent, path }) => `${agent.id} ${basename(path)}`);
    return new Map([...groups].map(([name, found]) => [name, found.map(({ path }) => path)]));
  }
}

export function isContinued(path: string, cursor: FileCursor): boolean {
  let from: Bytes | undefined;
  try {
    from = openBytes(path);
    return continues(from, cursor);
  } catch {
    // The file is gone or not readable for this user, so it is not found.
    return false;
  } finally {
    from?.close();
  }
}

/** An agent's program and its editor extension share an id, and keep their transcripts in different places. */
export function findAgent({ agents, variables, home }: Context, { agent: id, root, path }: FileRow): Agent | undefined {
  const candidates = agents.filter((agent) => agent.id === id);
  const owner = candidates.find((agent) => agent.roots(variables, home).includes(root));
  return owner ?? candidates.find((agent) => agent.isTranscript(path)) ?? candidates[0];
}

/** A path may name a file, or one session in a file of many as `file#session`. Either may contain a `#`. */
export function filesOf(path: string): string[] {
  const files = Array.from(path.matchAll(/#/g), ({ index }) => path.slice(0, index));
  return [path, ...files];
}
