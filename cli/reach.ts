import { spawnSync } from 'node:child_process';
import { normalize } from 'node:path';
import type { Context } from './context.ts';
import { findMount, isRemote, type Mount, readMounts } from './machine-secrets/local.ts';

/** A server answers in milliseconds, even when it is busy. */
const ANSWER_MS = 1000;
/** How long a result counts, whether the server answered or not. */
const ANSWERED_MS = 10_000;
const SILENT_MS = 10 * 60_000;

/**
 * Decides whether capture can look into a folder that a transcript names without waiting for ever. The folder must be on this
 * machine, or on a file server that answers. A separate process asks the server, because it can be killed while it waits. An
 * automounter is never asked, because it would ask the network for any name in a transcript.
 */
export function createReach({ home, now }: Pick<Context, 'home' | 'now'>, read = readMounts) {
  const servers = new Map<string, { answers: boolean; until: number }>();
  return (folder: string): boolean => {
    const mounts = read();
    const mount = findMount(normalize(folder), mounts) ?? mountByName(folder);
    if (mount === undefined || !isRemote(mount) || mount === findMount(home, mounts)) return true;
    if (mount.type === 'autofs') return false;
    const known = servers.get(mount.at);
    if (known !== undefined && known.until > now()) return known.answers;
    // Unlike `stat`, the system never answers this from its cache.
    const { error } = spawnSync('df', [mount.at], { timeout: ANSWER_MS, killSignal: 'SIGKILL', stdio: 'ignore' });
    const answers = error === undefined;
    servers.set(mount.at, { answers, until: now() + (answers ? ANSWERED_MS : SILENT_MS) });
    return answers;
  };
}

/** Used if the system does not list its mounts. Windows does not, but it gives up on a dead server by itself. */
function mountByName(folder: string): Mount | undefined {
  const [at] = /^\/(?:Volumes\/[^/]+|(?:net|Network)(?=\/))/.exec(normalize(folder)) ?? [];
  return at === undefined ? undefined : { at, type: at.startsWith('/Volumes/') ? 'smbfs' : 'autofs' };
}
