import { join } from 'node:path';
import type { Context } from '../context.ts';
import { decode } from '../hooks/change.ts';
import { type Document, memberOf, parseDocument } from '../hooks/document.ts';
import { readBytes } from '../hooks/file.ts';
import type { TakeOut } from '../hooks/install.ts';
import { findOurs, type IsOurs } from '../hooks/merge.ts';
import { isOursOn } from '../hooks/plan.ts';

/**
 * Whether Codex was told to trust every hook of ours. It keeps a hash for each in its `config.toml`, under a key made of
 * file, event and position. What the hash is of changes between versions, so that only its presence can be seen here.
 */
export function isTrusted(context: Pick<Context, 'variables' | 'home' | 'platform'>, folder: string): boolean {
  const path = join(folder, 'hooks.json');
  const config = readBytes(join(folder, 'config.toml'))?.toString('utf8') ?? '';
  const hooks = readBytes(path);
  if (hooks === undefined) return false;
  const document = parseDocument(decode(hooks).text);
  const keys = keysOfOurs(document, isOursOn(context)).map((key) => `${path}:${key}`);
  return keys.length > 0 && keys.every((key) => /^\s*trusted_hash\s*=/m.test(findTable(config, key)));
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
