import { hash, randomBytes } from 'node:crypto';
import { type Static, Type } from 'typebox';

/*
 * The salts of a session's events are the leaves of a binary tree of keys. The keys of both branches below a node are hashes of
 * the node's key, so the key at the root gives every salt. If a salt is removed, the keys beside its path give all the others,
 * and nobody can compute the removed salt from them (Goldreich, Goldwasser and Micali, 1986).
 */

/** The tree has a leaf for each sequence below 2³². */
const DEPTH = 32;
const FIRST_LEAF = 2 ** DEPTH;
const ROOT = 1;

const Key = Type.String({ pattern: '^[0-9a-f]{64}$', description: '32 bytes in hexadecimal' });
/** The key at the root. */
export const ChainKey = Key;

/** Keys of separate branches, by their nodes. The root is node 1, and the branches of node n are the nodes 2n and 2n + 1. */
export const SaltKeys = Type.Record(Type.String({ pattern: '^[1-9][0-9]{0,9}$' }), Key);
export type SaltKeys = Static<typeof SaltKeys>;

export const newChainKey = (): string => randomBytes(32).toString('hex');

export const saltKeysOf = (chainKey: string): SaltKeys => ({ [ROOT]: chainKey });

/** The key at the root; undefined if a salt was removed. */
export const chainKeyOf = (keys: SaltKeys): string | undefined => keys[ROOT];

const keyBelow = (key: string, node: number): string => hash('sha256', `${key}\0${node % 2}`);
const levelOf = (node: number): number => Math.floor(Math.log2(node));
/** The node above a leaf at a level; level 0 is the root. */
const nodeAbove = (leaf: number, level: number): number => Math.floor(leaf / 2 ** (DEPTH - level));

/** The node on the path to a leaf that has a key; undefined if none has. */
function findKeyed(keys: SaltKeys, leaf: number): number | undefined {
  for (let level = 0; level <= DEPTH; level++)
    if (keys[nodeAbove(leaf, level)] !== undefined) return nodeAbove(leaf, level);
  return undefined;
}

/**
 * Gives the salt of an event by its sequence; undefined if it was removed. It keeps the path to the last leaf, so salts in the
 * order of their events take two hashes each.
 */
export function saltsOf(keys: SaltKeys): (sequence: number) => string | undefined {
  const path: { node: number; key: string }[] = [];
  return (sequence) => {
    const leaf = FIRST_LEAF + sequence;
    let last = path.pop();
    while (last && nodeAbove(leaf, levelOf(last.node)) !== last.node) last = path.pop();
    if (!last) {
      const node = findKeyed(keys, leaf);
      if (node === undefined) return undefined;
      last = { node, key: keys[node] as string };
    }
    path.push(last);
    for (let level = levelOf(last.node) + 1; level <= DEPTH; level++) {
      const node = nodeAbove(leaf, level);
      last = { node, key: keyBelow(last.key, node) };
      path.push(last);
    }
    return last.key;
  };
}

/** The keys that give the same salts, except those of some events. */
export function withoutSalts(keys: SaltKeys, sequences: Iterable<number>): SaltKeys {
  const left = { ...keys };
  for (const sequence of sequences) {
    const leaf = FIRST_LEAF + sequence;
    const found = findKeyed(left, leaf);
    if (found === undefined) continue;
    let key = left[found] as string;
    delete left[found];
    for (let level = levelOf(found) + 1; level <= DEPTH; level++) {
      const node = nodeAbove(leaf, level);
      const beside = node % 2 === 0 ? node + 1 : node - 1;
      left[beside] = keyBelow(key, beside);
      key = keyBelow(key, node);
    }
  }
  return left;
}

/** The keys that give the same salts, but only up to an event: those of later events are not known yet. */
export function saltsUpTo(keys: SaltKeys, sequence: number): SaltKeys {
  const isUpTo = (node: number) => node * 2 ** (DEPTH - levelOf(node)) <= FIRST_LEAF + sequence;
  const cut = withoutSalts(keys, [sequence + 1]);
  return Object.fromEntries(Object.entries(cut).filter(([node]) => isUpTo(Number(node))));
}
