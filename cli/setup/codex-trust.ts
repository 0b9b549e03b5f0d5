import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { readBytes, readCurrent } from '../hooks/file.ts';
import { findOriginal } from '../hooks/install.ts';
import { digestOf, findDeed, readLedger, writeDeed } from '../hooks/ledger.ts';
import { isOursOn } from '../hooks/plan.ts';
import { type AppServer, startAppServer } from './app-server.ts';
import { digestOfHooks, TRUST_OWNER, takeOutTrust } from './codex-config.ts';

/** A hook as Codex lists it. */
interface ListedHook {
  key: string;
  command?: string;
  sourcePath?: string;
  currentHash: string;
  trustStatus: string;
}

/**
 * Has Codex itself record that our hooks in its `hooks.json` are trusted, as a person does with `/hooks`: only to be
 * called with the person's consent. Returns how many it was told to trust, 0 where it did already. Throws where Codex
 * does not do it.
 */
export async function trustHooks(context: Context, program: string, folder: string): Promise<number> {
  const config = join(folder, 'config.toml');
  const server = await startAppServer(context, program);
  try {
    const untrusted = await listUntrusted(context, server, folder);
    if (untrusted.length === 0) return 0;
    const before = readCurrent(config).bytes;
    const edits = untrusted.map(({ key, currentHash }) => ({
      keyPath: `hooks.state.${JSON.stringify(key)}.trusted_hash`,
      value: currentHash,
      mergeStrategy: 'upsert',
    }));
    await server.call('config/batchWrite', { edits, reloadUserConfig: true });
    keepBooks(context, folder, before, untrusted);
    const left = await listUntrusted(context, server, folder);
    if (left.length > 0) throw new Error('Codex was told to, and does not trust them all the same');
    return untrusted.length;
  } finally {
    server.stop();
  }
}

async function listUntrusted(context: Context, server: AppServer, folder: string): Promise<ListedHook[]> {
  const isOurs = isOursOn(context);
  const ownFile = realpathSync(join(folder, 'hooks.json'));
  const { data = [] } = (await server.call('hooks/list', { cwds: [folder] })) as { data?: { hooks?: ListedHook[] }[] };
  const ours = data
    .flatMap(({ hooks = [] }) => hooks)
    .filter(({ command, sourcePath }) => isOurs(command ?? '') && realpathSync(sourcePath ?? '/') === ownFile);
  if (ours.length === 0) throw new Error('Codex does not list our hooks');
  return ours.filter(({ trustStatus }) => trustStatus !== 'trusted');
}

function keepBooks(context: Context, folder: string, before: Buffer | undefined, trusted: readonly ListedHook[]): void {
  const path = join(folder, 'config.toml');
  const state = stateFolder(context);
  const earlier = findDeed(readLedger(state, TRUST_OWNER), path);
  const original = findOriginal(before, earlier, takeOutTrust);
  const after = readBytes(readCurrent(path).target) ?? Buffer.alloc(0);
  writeDeed(state, TRUST_OWNER, {
    path,
    written: digestOf(after),
    ...(original && { original: original.toString('base64') }),
    made: [...(earlier?.made ?? []), ...trusted.map(({ key }) => [key])],
    folders: [],
    trusted: {
      of: digestOfHooks(context, folder),
      hashes: {
        ...earlier?.trusted?.hashes,
        ...Object.fromEntries(trusted.map(({ key, currentHash }) => [key, currentHash])),
      },
    },
  });
}
