import { join } from 'node:path';
import type { Context } from '../context.ts';
import { decode } from '../hooks/change.ts';
import { type Document, memberOf, parseDocument } from '../hooks/document.ts';
import { readBytes } from '../hooks/file.ts';
import { findOurs } from '../hooks/merge.ts';
import { booksOf } from '../hooks/plan.ts';

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
  const keys = keysOfOurs(document, booksOf(context, 'codex').isOurs).map((key) => `${path}:${key}`);
  return keys.length > 0 && keys.every((key) => findTrust(config, key) !== undefined);
}

/** `stop:1:0` for the first handler of the second group at the event `Stop`. */
function keysOfOurs(document: Document, isOurs: (command: string) => boolean): string[] {
  const hooks = memberOf(document.root, 'hooks');
  return findOurs(document, isOurs).map(({ event, node }) => {
    const groups = memberOf(hooks, event)?.children ?? [];
    const group = groups.findIndex((item) => item === node || item === node.parent?.parent?.parent);
    const handler = groups[group] === node ? 0 : (node.parent?.children?.indexOf(node) ?? 0);
    return `${toSnakeCase(event)}:${group}:${handler}`;
  });
}

const toSnakeCase = (event: string) => event.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase();

/** The hash in a table `[hooks.state."<key>"]`. */
function findTrust(config: string, key: string): string | undefined {
  const at = config.indexOf(`[hooks.state.${JSON.stringify(key)}]`);
  if (at === -1) return undefined;
  const [table = ''] = config.slice(at).split(/\n\s*(?=\[)/);
  return /^\s*trusted_hash\s*=\s*"([^"]+)"/m.exec(table)?.[1];
}
