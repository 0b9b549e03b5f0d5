import { readFileSync } from 'node:fs';
import { parse } from 'jsonc-parser';
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
  /** How many the agent deletes within a week. */
  expiring: number;
  /** How many are from before capturing began here, without the person's consent. */
  earlier: number;
  /** Why the unwanted ones are left out. */
  leftOut: string[];
  /** What could not be read. */
  troubles: Trouble[];
  /** What looks like sessions, and no reader reads. */
  unknown: UnknownData[];
}

const DAY_MS = 86_400_000;
/** A transcript that its agent deletes within this time will be deleted soon. */
const SOON_DAYS = 7;

/** The time before which a transcript was last written that its agent deletes soon. */
function expiryOf(agent: Agent, context: Pick<Context, 'variables' | 'home' | 'now'>): number {
  const days = retentionOf(agent, context)?.days ?? Number.POSITIVE_INFINITY;
  return soonFrom(days, context.now());
}

export const soonFrom = (days: number, now: number): number => now - (days - Math.min(SOON_DAYS, days / 2)) * DAY_MS;

/** How long an agent keeps its transcripts, according to the person's settings. */
export function retentionOf(agent: Agent, { variables, home }: Pick<Context, 'variables' | 'home'>) {
  if (agent.settings === undefined) return undefined;
  const path = agent.settings.path(variables, home);
  return { ...agent.settings.findRetention({ ...readSettings(path) }), path };
}

function readSettings(path: string): object {
  try {
    return parse(readFileSync(path, 'utf8')) as object;
  } catch {
    // An agent without settings uses its defaults.
    return {};
  }
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
    const counts = { files: 0, bytes: 0, untouched: 0, earlier: 0, expiring: 0 };
    const expiresFrom = expiryOf(agent, context);
    const one: AgentTranscripts = { agent, ...counts, unread: [], leftOut: [], troubles: [], unknown: [] };
    const onTrouble = (trouble: Trouble) => void one.troubles.push(trouble);
    for (const { size, modifiedAt, sessions } of findUnread({ ...context, agents: [agent] }, spool, onTrouble)) {
      one.files++;
      one.bytes += size;
      if (modifiedAt < expiresFrom) one.expiring++;
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
