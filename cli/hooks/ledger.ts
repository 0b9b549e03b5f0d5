import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeJson } from '../config.ts';
import type { Made } from './merge.ts';

/** What was done to a file, so that it can be undone. The bytes may hold secrets: the state folder is closed to others. */
export interface Deed {
  path: string;
  /** SHA-256 of what we wrote. */
  written: string;
  /** The file before, in Base64; absent where there was none. The only copy, made before the first change. */
  original?: string;
  /** Members made in it. */
  made: Made[];
  /** Folders made for it, outermost first. */
  folders: string[];
  /** Of Codex's trust: the digest of the hooks that were trusted, and what Codex noted, by its keys. */
  trusted?: { of: string; hashes: { [key: string]: string } };
}

export interface Ledger {
  deeds: Deed[];
}

export const digestOf = (bytes: Uint8Array): string => hash('sha256', bytes);

const ledgerPath = (state: string, agent: string) => join(state, 'hooks', `${agent}.json`);

export const readLedger = (state: string, agent: string): Ledger =>
  readJson<Ledger>(ledgerPath(state, agent)) ?? { deeds: [] };

/** For what only looks: books that cannot be read are as good as gone. */
export function readDeeds(state: string, owner: string): Ledger {
  try {
    const ledger: Partial<Ledger> = readLedger(state, owner);
    return { deeds: Array.isArray(ledger.deeds) ? ledger.deeds : [] };
  } catch {
    return { deeds: [] };
  }
}

export const findDeed = ({ deeds }: Ledger, path: string): Deed | undefined => deeds.find((deed) => deed.path === path);

export function writeDeed(state: string, agent: string, deed: Deed): void {
  const { deeds } = readLedger(state, agent);
  writeJson(ledgerPath(state, agent), { deeds: [...deeds.filter(({ path }) => path !== deed.path), deed] });
}

export function removeDeed(state: string, agent: string, path: string): void {
  const deeds = readLedger(state, agent).deeds.filter((deed) => deed.path !== path);
  if (deeds.length > 0) writeJson(ledgerPath(state, agent), { deeds });
  else rmSync(ledgerPath(state, agent), { force: true });
}
