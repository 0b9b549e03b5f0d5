import { addressOf } from '../../contract/repository.ts';
import type { MetaEntry } from '../../transcript/entry/entry.ts';
import { type Facts, takeRoom } from './facts.ts';

const MAX_BRANCHES = 50;

/** Later facts replace earlier ones, with one exception: a title from a person stays when the agent invents one. */
export function noteMeta(facts: Facts, { facts: told, lane }: MetaEntry): void {
  const { title, titleBy, cwd, repository, branch } = told;
  if (!mayPlace(facts, lane, cwd !== undefined)) return;
  if (title !== undefined && lane === undefined && !(facts.titleByPerson && titleBy === 'agent')) {
    facts.title = title;
    facts.titleByPerson = titleBy === 'person';
  }
  // An agent may change its folder. The session belongs to the folder in which it started.
  if (cwd !== undefined && facts.folder === undefined) {
    facts.folder = cwd;
    const account = accountOf(cwd);
    if (account) facts.account = account;
  }
  const address = repository === undefined ? undefined : addressOf(repository);
  if (address) facts.address = address;
  noteBranch(facts, branch);
}

/**
 * Whether an entry may say where the session ran. Records of a sub-agent say it too, because they may arrive before those of the
 * session, or without them. The session's own folder replaces theirs.
 */
function mayPlace(facts: Facts, lane: string | undefined, isPlace: boolean): boolean {
  if (lane !== undefined) {
    if (facts.placedBy === 'session') return false;
    if (isPlace) facts.placedBy = 'subagent';
    return true;
  }
  if (!isPlace) return true;
  if (facts.placedBy === 'subagent') {
    for (const name of ['folder', 'address', 'account'] as const) delete facts[name];
    facts.branches = [];
  }
  facts.placedBy = 'session';
  return true;
}

export function noteBranch(facts: Facts, branch: string | undefined | null): void {
  if (!branch || facts.branches.at(-1) === branch) return;
  const known = facts.branches.indexOf(branch);
  if (known >= 0) facts.branches.splice(known, 1);
  else if (facts.branches.length >= MAX_BRANCHES || !takeRoom(facts, branch)) return;
  facts.branches.push(branch);
}

const HOME = /^(?:\/home\/|\/Users\/|\/var\/home\/|(?:\/mnt\/)?[A-Za-z]:?[\\/]Users[\\/])([^\\/]{1,100})/;

/** The name of the account on the machine, if the folder contains it. This also works for Windows folders under WSL. */
export const accountOf = (folder: string): string | undefined => HOME.exec(folder)?.[1];
