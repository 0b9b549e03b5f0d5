import type { DatabaseSync } from 'node:sqlite';
import { type ChainHead, EMPTY, type Happened, nextEntry } from '../audit-chain.ts';

const BEGIN = `
  INSERT INTO audit_heads (organization_id, sequence, hash, changed_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const FIND = 'SELECT sequence, hash FROM audit_heads WHERE organization_id = ?';
const INSERT = `
  INSERT INTO audit_entries (organization_id, sequence, at, actor_kind, actor_id, action, target_kind, target_id,
    details, previous, hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const MOVE = 'UPDATE audit_heads SET sequence = ?, hash = ?, changed_at = ? WHERE organization_id = ?';

/** Adds entries to audit logs within a transaction of the writer's thread, as `recordAction` does elsewhere. */
export function createRecorder(
  database: DatabaseSync,
): (organizationId: string, happened: Happened, now: number) => void {
  const [begin, find, insert, move] = [BEGIN, FIND, INSERT, MOVE].map((text) => database.prepare(text));
  return (organizationId, happened, now) => {
    begin?.run(organizationId, EMPTY.sequence, EMPTY.hash, now);
    const head = find?.get(organizationId) as unknown as ChainHead;
    const { sequence, actor, action, target, details, previous, hash } = nextEntry(organizationId, head, happened, now);
    const told = details ? JSON.stringify(details) : null;
    const parties = [actor.kind, actor.id, action, target.kind, target.id] as const;
    insert?.run(organizationId, sequence, now, ...parties, told, previous, hash);
    move?.run(sequence, hash, now, organizationId);
  };
}
