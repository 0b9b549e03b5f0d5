import type { DatabaseSync } from 'node:sqlite';
import type { ChainHead } from '../../contract/chain.ts';

/** How often each rule masked a text. */
export type Masked = Record<string, number>;

/** What was sent to a session of the service, from its first event on. */
export interface SentChain {
  /** The head in front of the first event. */
  start: string;
  head: ChainHead;
  masked: Masked;
}

/** Since version 9: the chain of each of the service's sessions that nobody else has sent anything to. */
export const CHAINS = `
  CREATE TABLE IF NOT EXISTS chains (
    service_id TEXT PRIMARY KEY,
    start TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    hash TEXT NOT NULL,
    masked TEXT NOT NULL
  ) WITHOUT ROWID;`;

export function createChains(db: DatabaseSync) {
  const begin = db.prepare(`INSERT INTO chains VALUES (?, ?, 0, ?, '{}') ON CONFLICT DO NOTHING`);
  const find = db.prepare('SELECT * FROM chains WHERE service_id = ?');
  const write = db.prepare('UPDATE chains SET sequence = ?, hash = ?, masked = ? WHERE service_id = ?');
  const remove = db.prepare('DELETE FROM chains WHERE service_id = ?');
  return {
    /** Of a session of the service without events. One that is begun stays. */
    begin: (serviceId: string, { hash }: ChainHead) => begin.run(serviceId, hash, hash),
    find(serviceId: string): SentChain | undefined {
      const row = find.get(serviceId);
      if (row === undefined) return undefined;
      const head = { sequence: Number(row.sequence), hash: String(row.hash) };
      return { start: String(row.start), head, masked: JSON.parse(String(row.masked)) as Masked };
    },
    write: (serviceId: string, { head, masked }: SentChain) =>
      write.run(head.sequence, head.hash, JSON.stringify(masked), serviceId),
    /** Others have sent to it, so what this machine sent is not all of it. */
    remove: (serviceId: string) => remove.run(serviceId),
  };
}
