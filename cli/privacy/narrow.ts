import { lineageOf } from '../decide/lineage.ts';
import { type Consent, closedPeriodsOf, hasEarlier } from '../decide/periods.ts';
import type { Spool } from '../spool/open.ts';
import type { Policy } from './policy.ts';

/**
 * If a person has taken back their consent for earlier sessions, throws the waiting and refused events of those sessions
 * away, so that they are never sent. The transcripts are then read again for the parts that the person still allows. Call it
 * before anything is sent.
 */
export function narrowToConsent(spool: Spool, policy: Policy): void {
  const consent = spool.decisions.consent();
  if (consent === undefined) return;
  const before = spool.getMeta('consent');
  const isNarrower = isLess(consent, before === undefined ? undefined : (JSON.parse(before) as Consent));
  spool.transact(() => {
    if (isNarrower) spool.readFromStart(findTakenBack(spool, policy, consent));
    if (before !== JSON.stringify(consent)) spool.setMeta('consent', JSON.stringify(consent));
  });
}

/**
 * Sessions in the spool that began before capturing did, and that nobody consents to any more. Sessions that a rule excludes
 * are included: the rule may be removed later.
 */
const findTakenBack = (spool: Spool, { find }: Policy, consent: Consent): number[] =>
  [...new Set([...spool.batches.sessions(), ...spool.refused.perSession().keys()])].flatMap((id) => {
    const { agent, agentSession, cwd, firstAt, forkedFrom } = spool.sessions.get(id);
    const { folder = cwd, startedAt = firstAt, parents } = find(agent, agentSession) ?? {};
    const known = parents ?? (forkedFrom === undefined ? [] : [forkedFrom]);
    const session = { session: agentSession, folder, startedAt, parents: known };
    const lineage = lineageOf(session, (parent) => find(agent, parent));
    return hasEarlier(closedPeriodsOf(lineage, { consent, pauses: [], expiredUntil: () => 0 })) ? [id] : [];
  });

/**
 * Whether the person allows fewer earlier sessions than before. If there was no decision, the waiting events of earlier sessions
 * come from an import; a decision of the person, or the loss of one, withdraws them.
 */
function isLess({ since, history, isByPerson, isLost }: Consent, before: Consent | undefined): boolean {
  if (history === 'all') return false;
  if (before === undefined) return isByPerson === true || isLost === true;
  return JSON.stringify(history) !== JSON.stringify(before.history) || since > before.since;
}
