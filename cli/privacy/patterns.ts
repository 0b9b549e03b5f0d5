import { matchesGlob, resolve } from 'node:path';
import { ancestors } from '../paths.ts';

/**
 * Makes what tells whether a session of a folder, in a repository with a remote, is meant. A path (`/srv/secret`, `~/private/*`) means the folder and all below it, anything else a repository by its remote
 * (`github.com/acme/billing`, `github.com/acme/*`), however that is spelled.
 */
export function toPattern(text: string, home: string): (folder: string, remote: string | undefined) => boolean {
  if (!/^(?:[/~.\\]|[A-Za-z]:)/.test(text)) {
    const wanted = toPlainRemote(text);
    return (_, remote) => remote !== undefined && matchesGlob(toPlainRemote(remote), wanted);
  }
  const path = resolve(text.replace(/^~(?=$|[/\\])/, home));
  return (folder) => ancestors(folder).some((at) => at === path || matchesGlob(at, path));
}

/** `git@github.com:acme/billing.git`, `https://me@github.com/acme/billing` → `github.com/acme/billing`. */
export function toPlainRemote(remote: string): string {
  return remote
    .replace(/^\w+:\/\//, '')
    .replace(/^[^@/]*@/, '')
    .replace(/^([^/:]+):(?:\d+\/)?/, '$1/')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .toLowerCase();
}
