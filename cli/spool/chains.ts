import type { DatabaseSync } from 'node:sqlite';
import type { ChainHead } from '../../contract/chain.ts';

/** How often each rule masked a text. */
export type Masked = Record<string, number>;

/** The events sent to a session of the service, from its first event on. */
export interface SentChain {
  /** The head of the chain before the first event. */
  start: string;
  /** The key of the salts of its events. */
  chainKey: string;
  head: ChainHead;
  masked: Masked;
}

/** The chain of each session of the service that only this machine has sent to. */
export const CHAINS = `
  CREATE TABLE spool.chains (
    service_id TEXT PRIMARY KEY,
    start TEXT NOT NULL,
    chain_key TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    hash TEXT NOT NULL,
    masked TEXT NOT NULL
  ) WITHOUT ROWID;`;

export function createChains(db: DatabaseSync) {
  const begin = db.prepare(`INSERT INTO chains VALUES (?, ?, ?, 0, ?, '{}') ON CONFLICT DO NOTHING`);
  const find = db.prepare('SELECT * FROM chains WHERE service_id = ?');
  const write = db.prepare('UPDATE chains SET sequence = ?, hash = ?, masked = ? WHERE service_id = ?');
  const remove = db.prepare('DELETE FROM chains WHERE service_id = ?');
  return {
    /** Begins the chain of a session of the service without events. A chain that was begun stays. */
    begin: (serviceId: string, { hash }: ChainHead, chainKey: string) => begin.run(serviceId, hash, chainKey, hash),
    find(serviceId: string): SentChain | undefined {
      const row = find.get(serviceId);
      if (row === undefined) return undefined;
      const head = { sequence: Number(row.sequence), hash: String(row.hash) };
      const masked = JSON.parse(String(row.masked)) as Masked;
      return { start: String(row.start), chainKey: String(row.chain_key), head, masked };
    },
    write: (serviceId: string, { head, masked }: SentChain) =>
      write.run(head.sequence, head.hash, JSON.stringify(masked), serviceId),
    /** Removes a chain, because other machines have sent to the session too. */
    remove: (serviceId: string) => remove.run(serviceId),
  };
}
