import { readFileSync } from 'node:fs';
import { parse } from 'jsonc-parser';
import type { Coverage } from '../../contract/environment.ts';
import type { Agent } from '../agents/agent.ts';
import type { Context } from '../context.ts';
import { beginningOf, lineageOf } from '../decide/lineage.ts';
import { closedPeriodsOf, whyAllStays } from '../decide/periods.ts';
import { openPolicy } from '../pipeline.ts';
import type { Transcript, Trouble } from '../read/discover.ts';
import { findPacked, findTables, type LocalGap } from '../read/unknown.ts';
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
  /** Why the unwanted ones are kept back. */
  keptBack: string[];
  /** What could not be read. */
  troubles: Trouble[];
  /** What looks like sessions in the agent's folders, and no reader reads. */
  gaps: LocalGap[];
}

/** All transcripts at the time of the inspection. */
export interface Transcripts {
  agents: AgentTranscripts[];
  coverage: Coverage;
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
 * Checks how far every transcript was read, and what nobody reads. Reads none of it and writes nothing. `isAsked`: whether to
 * respect the person's wishes; false if they cannot be known.
 */
export function inspectTranscripts(context: Context, spool: Spool, isAsked: boolean): Transcripts {
  const policy = openPolicy(context, spool);
  // Before anybody decided, no existing session is wanted.
  const unasked = spool.sessions.isEmpty() ? ({ since: context.now(), history: 'none' } as const) : undefined;
  const consent = spool.decisions.consent() ?? unasked;
  if (isAsked) policy.refresh();
  const coverage = spool.files.coverage();
  /** A transcript that is read in part counts once. */
  const count = (where: keyof Coverage, id: number | undefined) => {
    coverage[where]++;
    if (id !== undefined) coverage[spool.files.isKeptBack(id) ? 'keptBack' : 'captured']--;
  };
  const agents = context.agents.map((agent) => {
    const counts = { files: 0, bytes: 0, untouched: 0, earlier: 0, expiring: 0 };
    const expiresFrom = expiryOf(agent, context);
    const one: AgentTranscripts = { agent, ...counts, unread: [], keptBack: [], troubles: [], gaps: [] };
    const onTrouble = (trouble: Trouble) => void one.troubles.push(trouble);
    const there: Transcript[] = [];
    const others = new Set<string>();
    const search = findUnread({ ...context, agents: [agent] }, spool, onTrouble, (path) => others.add(path));
    for (const { sessions, ...transcript } of search) {
      there.push(transcript);
      if (transcript.size > 0) one.files++;
      one.bytes += transcript.size;
      if (transcript.modifiedAt < expiresFrom) one.expiring++;
      for (const { origin, startedAt, id } of sessions) {
        const objection = isAsked ? policy.objection(agent.id, origin) : undefined;
        const find = (session: string) => policy.find(agent.id, session);
        const lineage = lineageOf(beginningOf({ origin, startedAt }, find), find);
        const closed = closedPeriodsOf(lineage, { consent, pauses: [], expiredUntil: () => 0 });
        const isEarlier = whyAllStays(transcript.modifiedAt, closed) !== undefined;
        count(objection !== undefined || isEarlier ? 'keptBack' : 'waiting', id);
        if (objection !== undefined) one.keptBack.push(objection);
        else if (isEarlier) one.earlier++;
        else {
          one.unread.push(transcript.modifiedAt);
          if (id === undefined) one.untouched++;
        }
      }
    }
    one.gaps.push(...findPacked(agent, others), ...findTables(agent, there));
    if (one.troubles.length > 0) {
      const of = { agent: agent.id, name: agent.displayName };
      one.gaps.push({ kind: 'unreadable', ...of, count: one.troubles.length });
    }
    return one;
  });
  return { agents, coverage };
}
