import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import { AGENT_HOOKS } from '../hooks/all.ts';
import { applyRestoration, planRestoration, type TakeOut } from '../hooks/install.ts';
import { readLedger } from '../hooks/ledger.ts';
import { booksOf } from '../hooks/plan.ts';
import { takeOutTrust } from './codex-config.ts';
import { TRUST_OWNER } from './codex-trust.ts';

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
  return owners.flatMap(([owner, takeOut]) => restoreOwner(stateFolder(context), owner, takeOut));
}

function restoreOwner(state: string, owner: string, takeOut: TakeOut): Undone[] {
  return readLedger(state, owner).deeds.map((deed): Undone => {
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
