import { basename, join } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { type Store, storeOf } from '../agents/store.ts';
import type { Context } from '../context.ts';
import { type Bytes, isThere, openBytes } from '../read/bytes.ts';
import { continues, FILE_START, fingerprint, STORE_START } from '../read/cursor.ts';
import { findTranscripts, stampOf } from '../read/discover.ts';
import type { RecordHash } from '../read/identity.ts';
import { openRecords } from '../read/open.ts';
import type { CapturedRecord, RecordStream } from '../read/record.ts';
import { listSessions } from '../read/stored/records.ts';
import type { FileCursor, FileRow } from '../spool/files.ts';

/** The present state of a transcript, read from its start. */
export interface Transcript {
  stream: RecordStream;
  /** Whether the spool knows it in its present form, except for appended records. If not, some records may still be unread. */
  isKnown: boolean;
  /** Whether its agent rewrites it. Then the service rightly holds records that are no longer in it, in another order. */
  isRewritten: boolean;
  /** Records from this position on were appended after the last reading. */
  readTo: number;
}

/** All records of a transcript, as capturing reads them. Undefined if the file is gone. */
export function openTranscript(
  context: Context,
  row: FileRow,
  hashRecord: RecordHash,
  moved: MovedTranscripts,
): Transcript | undefined {
  const agent = findAgent(context, row);
  if (agent === undefined) return undefined;
  for (const file of filesOf(row.path)) {
    if (!isThere(join(row.root, file))) continue;
    const store = storeOf(agent, file);
    if (store) return openStored(agent, store, row, file, context.now(), hashRecord);
    if (file === row.path) return openLines(agent, row, join(row.root, row.path), hashRecord);
  }
  const path = moved.find(row);
  return path === undefined ? undefined : openLines(agent, row, path, hashRecord);
}

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

function isContinued(path: string, cursor: FileCursor): boolean {
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
function findAgent({ agents, variables, home }: Context, { agent: id, root, path }: FileRow): Agent | undefined {
  const candidates = agents.filter((agent) => agent.id === id);
  const owner = candidates.find((agent) => agent.roots(variables, home).includes(root));
  return owner ?? candidates.find((agent) => agent.isTranscript(path)) ?? candidates[0];
}

/** A path may name a file, or one session in a file of many as `file#session`. Either may contain a `#`. */
function filesOf(path: string): string[] {
  const files = Array.from(path.matchAll(/#/g), ({ index }) => path.slice(0, index));
  return [path, ...files];
}

function openLines(agent: Agent, row: FileRow, at: string, hashRecord: RecordHash): Transcript {
  const { root, path, origin, cursor } = row;
  const isKnown = cursor.kind === 'file' && isContinued(at, cursor);
  return {
    stream: openRecords({ agent, root, path, at, origin, cursor: FILE_START, hashRecord, ...WHOLE }),
    isKnown,
    isRewritten: cursor.pass > 0 || !isKnown,
    readTo: isKnown ? cursor.position : Number.POSITIVE_INFINITY,
  };
}

function openStored(agent: Agent, store: Store, row: FileRow, file: string, now: number, hashRecord: RecordHash) {
  const { root, path, origin, cursor } = row;
  const name = path === file ? '' : path.slice(file.length + 1);
  const [found] = findTranscripts([{ agent, root, below: file, isNamed: true }], () => {});
  const sessions = found ? listSessions(store, join(root, file), stampOf(found), now) : [];
  const stamp = sessions.find((session) => session.name === name)?.stamp;
  if (stamp === undefined) return undefined;
  const stored = { file, name, stamp };
  return {
    stream: openRecords({ agent, root, path, stored, origin, cursor: STORE_START, hashRecord, ...WHOLE }),
    isKnown: stamp !== '' && cursor.kind === 'store' && fingerprint(Buffer.from(stamp)).equals(cursor.stamp),
    isRewritten: true,
    readTo: Number.POSITIVE_INFINITY,
  };
}

/** Records that are still being written are included: they are already captured, or wait to be. */
const WHOLE = { chunkBytes: 128 * 1024, isAbandoned: false, settledBefore: Number.POSITIVE_INFINITY };

/** The position of a record. Every record makes at least one event. */
export const positionOf = ({ events }: CapturedRecord): number => events[0]?.payload.source.position ?? 0;
