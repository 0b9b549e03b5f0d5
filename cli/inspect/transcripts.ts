import type { Agent } from '../agents/agent.ts';
import type { Context } from '../context.ts';
import { openPolicy } from '../pipeline.ts';
import { wantedFrom } from '../privacy/consent.ts';
import type { Trouble } from '../read/discover.ts';
import { findUnread } from '../read/unread.ts';
import type { Spool } from '../spool/open.ts';

/** What lies on this machine of one agent, and what of it was not read yet. Times in milliseconds since 1970. */
export interface AgentTranscripts {
  agent: Agent;
  files: number;
  bytes: number;
  /** When those that have something to capture were last written, and how many of them nothing was captured of. */
  unread: number[];
  untouched: number;
  /** How many are from before capturing began here, and were not let go. */
  earlier: number;
  /** Why those are left out that are not wanted. */
  leftOut: string[];
  /** What could not be read. */
  troubles: Trouble[];
}

/**
 * Looks at every transcript and how far it was read; reads none of it, and writes nothing. `isAsked`: what a person wants
 * left out is respected; false where that cannot be known.
 */
export function inspectTranscripts(context: Context, spool: Spool, isAsked: boolean): AgentTranscripts[] {
  const policy = openPolicy(context, spool);
  // Before anybody decided, no existing session is wanted.
  const unasked = spool.sessions.isEmpty() ? ({ since: context.now(), history: 'none' } as const) : undefined;
  const consent = spool.decisions.consent() ?? unasked;
  if (isAsked) policy.refresh();
  return context.agents.map((agent) => {
    const counts = { files: 0, bytes: 0, untouched: 0, earlier: 0 };
    const one: AgentTranscripts = { agent, ...counts, unread: [], leftOut: [], troubles: [] };
    const onTrouble = (trouble: Trouble) => void one.troubles.push(trouble);
    for (const { size, modifiedAt, sessions } of findUnread({ ...context, agents: [agent] }, spool, onTrouble)) {
      one.files++;
      one.bytes += size;
      for (const { origin, id } of sessions) {
        const objection = isAsked ? policy.objection(agent.id, origin) : undefined;
        if (objection !== undefined) one.leftOut.push(objection);
        else if (modifiedAt < wantedFrom(consent, origin.cwd)) one.earlier++;
        else {
          one.unread.push(modifiedAt);
          if (id === undefined) one.untouched++;
        }
      }
    }
    return one;
  });
}
