import { rmSync } from 'node:fs';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import type { HookFile } from '../hooks/agent-hooks.ts';
import { AGENT_HOOKS } from '../hooks/all.ts';
import { decode } from '../hooks/change.ts';
import { readCurrent, replaceFile } from '../hooks/file.ts';
import { applyRestoration, planRestoration, type TakeOut } from '../hooks/install.ts';
import { readDeeds } from '../hooks/ledger.ts';
import { unmergeHooks } from '../hooks/merge.ts';
import { booksOf, filesOf, isOursOn } from '../hooks/plan.ts';
import { hookPath } from '../hooks/script.ts';
import { TRUST_OWNER, takeOutTrust } from './codex-config.ts';

export interface Undone {
  path: string;
  /** `restored`: byte for byte; `cleaned`: only ours was taken out; `left`: not touched. */
  outcome: 'restored' | 'cleaned' | 'removed' | 'left';
  reason?: string;
}

/** Undoes every change to files of agents, as far as it can be undone. Trust goes first: it speaks of the hooks. */
export function restoreAll(context: Context): Undone[] {
  const owners: [string, TakeOut][] = [
    [TRUST_OWNER, takeOutTrust],
    ...AGENT_HOOKS.map(({ id }): [string, TakeOut] => [id, booksOf(context, id).takeOut]),
  ];
  const undone = owners.flatMap(([owner, takeOut]) => restoreOwner(stateFolder(context), owner, takeOut));
  const known = new Set(undone.map(({ path }) => path));
  const forgotten = AGENT_HOOKS.flatMap((row) => filesOf(context, row)).filter(({ path }) => !known.has(path));
  return [...undone, ...forgotten.flatMap((file) => cleanForgotten(context, file))];
}

/** The books are gone, such as when somebody deleted the state folder: what is ours is taken out all the same. */
function cleanForgotten(context: Context, file: HookFile): Undone[] {
  const { path } = file;
  let bytes: Buffer | undefined;
  try {
    const current = readCurrent(path);
    bytes = current.bytes;
    if (bytes === undefined) return [];
    if (file.kind === 'own') {
      if (bytes.toString('utf8') !== file.content) return [];
      rmSync(current.target);
      return [{ path, outcome: 'removed' }];
    }
    const { mark, text } = decode(bytes);
    const without = unmergeHooks(text, [], isOursOn(context));
    if (without === text) return [];
    replaceFile(current.target, Buffer.from(mark + without), 0o600);
    return [{ path, outcome: 'cleaned' }];
  } catch (error) {
    const isOurs = bytes?.includes(hookPath(stateFolder(context), context.platform)) === true;
    return isOurs ? [{ path, outcome: 'left', reason: describe(error) }] : [];
  }
}

function restoreOwner(state: string, owner: string, takeOut: TakeOut): Undone[] {
  return readDeeds(state, owner).deeds.map((deed): Undone => {
    const { path } = deed;
    try {
      const restoration = planRestoration(deed, takeOut);
      const { after, reason, isExact } = restoration;
      applyRestoration(restoration, { state, owner });
      if (reason !== undefined) return { path, outcome: 'left', reason };
      return { path, outcome: after === undefined ? 'removed' : isExact ? 'restored' : 'cleaned' };
    } catch (error) {
      return { path, outcome: 'left', reason: describe(error) };
    }
  });
}

const OUTCOMES: { readonly [outcome in Undone['outcome']]: string } = {
  restored: 'is as it was before',
  cleaned: 'was changed since; only the entries of capture were taken out',
  removed: 'is removed',
  left: 'is left alone',
};

export const describeUndone = ({ path, outcome, reason }: Undone): string =>
  `${path} ${OUTCOMES[outcome]}${reason ? `: ${reason}` : ''}.`;
