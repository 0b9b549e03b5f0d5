import type { Agent } from '../agents/agent.ts';
import type { Context } from '../context.ts';
import { openPolicy } from '../pipeline.ts';
import { wantedFrom } from '../privacy/consent.ts';
import type { Trouble } from '../read/discover.ts';
import { findUnknown, type UnknownData } from '../read/unknown.ts';
import { findUnread } from '../read/unread.ts';
import type { Spool } from '../spool/open.ts';

/** The transcripts of one agent on this machine, and which of them are unread. Times are in milliseconds since 1970. */
export interface AgentTranscripts {
  agent: Agent;
  files: number;
  bytes: number;
  /** When the unread transcripts were last written, and how many of them are not captured at all. */
  unread: number[];
  untouched: number;
  /** How many are from before capturing began here, without the person's consent. */
  earlier: number;
  /** Why the unwanted ones are left out. */
  leftOut: string[];
  /** What could not be read. */
  troubles: Trouble[];
  /** What looks like sessions, and no reader reads. */
  unknown: UnknownData[];
}

/**
 * Checks how far every transcript was read, and what nobody reads. Reads none of it and writes nothing. `isAsked`: whether to respect the person's
 * wishes; false if they cannot be known.
 */
export function inspectTranscripts(context: Context, spool: Spool, isAsked: boolean): AgentTranscripts[] {
  const policy = openPolicy(context, spool);
  // Before anybody decided, no existing session is wanted.
  const unasked = spool.sessions.isEmpty() ? ({ since: context.now(), history: 'none' } as const) : undefined;
  const consent = spool.decisions.consent() ?? unasked;
  if (isAsked) policy.refresh();
  return context.agents.map((agent) => {
    const counts = { files: 0, bytes: 0, untouched: 0, earlier: 0 };
    const one: AgentTranscripts = { agent, ...counts, unread: [], leftOut: [], troubles: [], unknown: [] };
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
    const isWanted = (data: UnknownData) => data.kind !== 'folder' || !policy.objectionToFolder(data.folder);
    one.unknown.push(...findUnknown(context, agent).filter(isWanted));
    return one;
  });
}
