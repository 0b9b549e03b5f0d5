import { join } from 'node:path';
import { getNodeValue } from 'jsonc-parser';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { decode } from '../hooks/change.ts';
import { type Document, memberOf, parseDocument } from '../hooks/document.ts';
import { readBytes } from '../hooks/file.ts';
import type { TakeOut } from '../hooks/install.ts';
import { digestOf, findDeed, readDeeds } from '../hooks/ledger.ts';
import { findOurs, type IsOurs } from '../hooks/merge.ts';
import { isOursOn } from '../hooks/plan.ts';

type Where = Pick<Context, 'variables' | 'home' | 'platform'>;

/** Under which the change of Codex's `config.toml` is kept. */
export const TRUST_OWNER = 'codex-trust';

/**
 * Whether Codex was told to trust every hook of ours. It keeps a hash for each in its `config.toml`, under a key made of
 * file, event and position. What the hash is of changes between versions, so it is not computed here: it is there, and it
 * is not one that we had Codex note for hooks that were others.
 */
export function isTrusted(context: Where, folder: string): boolean {
  const path = join(folder, 'hooks.json');
  const config = join(folder, 'config.toml');
  const text = readBytes(config)?.toString('utf8') ?? '';
  const document = readHooks(path);
  if (document === undefined) return false;
  const { trusted } = findDeed(readDeeds(stateFolder(context), TRUST_OWNER), config) ?? {};
  const isOther = trusted !== undefined && trusted.of !== digestOfHooks(context, folder);
  const keys = keysOfOurs(document, isOursOn(context)).map((key) => `${path}:${key}`);
  return keys.length > 0 && keys.every(isNoted);

  function isNoted(key: string): boolean {
    const hash = /^\s*trusted_hash\s*=\s*"([^"]*)"/m.exec(findTable(text, key))?.[1];
    return hash !== undefined && !(isOther && trusted.hashes[key] === hash);
  }
}

/** Tells our hooks from what they were before. */
export function digestOfHooks(context: Where, folder: string): string {
  const document = readHooks(join(folder, 'hooks.json'));
  const ours = document ? findOurs(document, isOursOn(context)) : [];
  return digestOf(Buffer.from(JSON.stringify(ours.map(({ event, node }) => [event, getNodeValue(node)]))));
}

function readHooks(path: string): Document | undefined {
  const bytes = readBytes(path);
  return bytes && parseDocument(decode(bytes).text);
}

/** `stop:1:0` for the first handler of the second group at the event `Stop`. */
function keysOfOurs(document: Document, isOurs: IsOurs): string[] {
  const hooks = memberOf(document.root, 'hooks');
  return findOurs(document, isOurs).map(({ event, node }) => {
    const groups = memberOf(hooks, event)?.children ?? [];
    const group = groups.findIndex((item) => item === node || item === node.parent?.parent?.parent);
    const handler = groups[group] === node ? 0 : (node.parent?.children?.indexOf(node) ?? 0);
    return `${toSnakeCase(event)}:${group}:${handler}`;
  });
}

const toSnakeCase = (event: string) => event.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase();

const headOf = (key: string) => `[hooks.state.${JSON.stringify(key)}]`;

/** The text of a key's table, from its head to the next one; empty where there is none. */
function findTable(config: string, key: string): string {
  const at = config.indexOf(headOf(key));
  return at === -1 ? '' : (config.slice(at).split(/^(?=\[)/m)[0] ?? '');
}

/** Takes the tables out whose keys we had Codex write. */
export const takeOutTrust: TakeOut = (bytes, { made, original }) => {
  let config = bytes.toString('utf8');
  for (const key of made.flat()) config = config.replace(findTable(config, key), '');
  return original === undefined && config.trim() === '' ? undefined : Buffer.from(config);
};
