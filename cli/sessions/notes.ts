import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readKey } from '../../redact/key.ts';
import { storeOf } from '../agents/store.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { packedAt } from '../read/bytes.ts';
import { createRecordHash } from '../read/identity.ts';
import { findKeptBack } from '../read/kept-back.ts';
import type { Spool } from '../spool/open.ts';
import type { KnownSession } from './known.ts';

/**
 * Notes all records in the transcripts of a session that is about to be kept back, because a fork may begin with them. That
 * includes records that were left out at reading. Call the returned function in the unit of work that keeps the session back.
 */
export function noteRecords(
  context: Context,
  spool: Spool,
  { agent: id, session, unread }: Pick<KnownSession, 'agent' | 'session' | 'unread'>,
): () => void {
  const hashRecord = createRecordHash(readKey(stateFolder(context)));
  const agent = context.agents.find((one) => one.id === id);
  const known = spool.files.ofSession(id, session).flatMap(({ root, path, origin }) => {
    const packed = packedAt(join(root, path));
    const stats = statSync(packed ?? join(root, path), { throwIfNoEntry: false });
    if (stats === undefined || agent === undefined || storeOf(agent, path) !== undefined) return [];
    const { size, mtimeMs: modifiedAt, birthtimeMs: bornAt } = stats;
    return [{ agent, root, path, isPacked: packed !== undefined, size, modifiedAt, bornAt, origin }];
  });
  const paths = new Set(known.map(({ root, path }) => join(root, path)));
  const others = unread.filter(({ root, path }) => !paths.has(join(root, path)));
  const notes = [...known, ...others].map((file) => findKeptBack(spool.decisions, hashRecord, file));
  return () => {
    for (const note of notes) note?.();
  };
}
