import type { Spool } from '../spool/open.ts';
import { type Consent, wantedOf } from './consent.ts';
import type { Policy } from './policy.ts';

/**
 * Where a person takes back what was said of earlier sessions, what waits of those is not sent any more: it is thrown away,
 * and their transcripts are read again, for what of them is wanted still. Call it before anything is sent.
 */
export function narrowToConsent(spool: Spool, policy: Policy): void {
  const consent = spool.decisions.consent();
  if (consent === undefined) return;
  const before = spool.getMeta('consent');
  const isNarrower = isLess(consent, before === undefined ? undefined : (JSON.parse(before) as Consent));
  spool.transact(() => {
    if (isNarrower) spool.readAnew(findTakenBack(spool, policy, consent));
    if (before !== JSON.stringify(consent)) spool.setMeta('consent', JSON.stringify(consent));
  });
}

/**
 * Sessions with something in the spool that began before capturing did, and that nobody lets go of any more. Those that a rule
 * excludes are among them: the rule may be removed later.
 */
const findTakenBack = (spool: Spool, { find }: Policy, consent: Consent): number[] =>
  [...new Set([...spool.batches.sessions(), ...spool.refused.perSession().keys()])].flatMap((id) => {
    const { agent, agentSession, cwd, firstAt, forkedFrom } = spool.sessions.get(id);
    const { folder = cwd, startedAt = firstAt, parents } = find(agent, agentSession) ?? {};
    const known = { folder, startedAt, parents: parents ?? (forkedFrom === undefined ? [] : [forkedFrom]) };
    return wantedOf(consent, known, (parent) => find(agent, parent)).hasEarlier ? [id] : [];
  });

/**
 * Whether earlier sessions that were let go of are not any more. Before anybody was asked, what waits was asked for by name; a
 * person who decides after that takes it back.
 */
function isLess({ since, history, isSaid, isLost }: Consent, before: Consent | undefined): boolean {
  if (history === 'all') return false;
  if (before === undefined) return isSaid === true || isLost === true;
  return JSON.stringify(history) !== JSON.stringify(before.history) || since > before.since;
}
