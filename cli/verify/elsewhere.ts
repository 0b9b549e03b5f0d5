import type { Verifier } from './session.ts';

/**
 * Records that a fork repeats were captured with the session they came from. They were met there, unless that session's
 * own transcript is gone: then the service is asked whether it has them, as far as their agent gives them ids.
 */
export async function resolveElsewhere({ spool, notes, held, answers, digester, findings }: Verifier): Promise<void> {
  for (const owner of notes.ownersOfUnmet()) {
    const { agent, agentSession } = spool.sessions.get(owner);
    held.clear();
    for (const [place, sessionId] of spool.sessions.serviceIds(owner).entries()) {
      await answers.digests(sessionId, (page) => {
        for (const digests of page) held.add({ place, ...digests });
      });
    }
    for (const { session, path, position, eventType, record } of notes.unmetOf(owner)) {
      if (record === undefined) findings.count('unverifiable');
      else if (held.findOfRecord(digester.digestName('record', agentSession, record)).length === 0) {
        const { agentSession: fork } = spool.sessions.get(session);
        findings.add({ problem: 'missing', agent, session: fork, file: path, position, eventType });
      }
    }
  }
}
