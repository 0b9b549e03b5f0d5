import { spawnSync } from 'node:child_process';
import { normalize } from 'node:path';
import type { Context } from './context.ts';
import { findMount, isRemote, type Mount, readMounts } from './machine-secrets/local.ts';

/** A server answers in milliseconds, also when it is busy. */
const ANSWER_MS = 1000;
/** How long an answer counts, and how long none does. */
const ANSWERED_MS = 10_000;
const SILENT_MS = 10 * 60_000;

/**
 * Tells whether a folder that a transcript names can be looked into without waiting for ever: it is on this machine, or on
 * a file server that answers. Another process asks the server, which can be ended while it waits; and an automounter is
 * not asked at all, as that would ask the network for whatever a transcript says.
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
    // Unlike `stat`, it is never answered from memory.
    const { error } = spawnSync('df', [mount.at], { timeout: ANSWER_MS, killSignal: 'SIGKILL', stdio: 'ignore' });
    const answers = error === undefined;
    servers.set(mount.at, { answers, until: now() + (answers ? ANSWERED_MS : SILENT_MS) });
    return answers;
  };
}

/** Where the system does not tell what is mounted. Windows does not, but gives up on a server by itself. */
function mountByName(folder: string): Mount | undefined {
  const [at] = /^\/(?:Volumes\/[^/]+|(?:net|Network)(?=\/))/.exec(normalize(folder)) ?? [];
  return at === undefined ? undefined : { at, type: at.startsWith('/Volumes/') ? 'smbfs' : 'autofs' };
}
