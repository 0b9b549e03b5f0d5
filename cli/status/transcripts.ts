import type { Agent } from '../agents/agent.ts';
import { storeOf } from '../agents/store.ts';
import type { Context } from '../context.ts';
import { formatAge, formatCount } from '../output.ts';
import { createPolicy } from '../privacy/policy.ts';
import { attempt, type Found, findTranscripts, type Trouble } from '../read/discover.ts';
import { identify, type Unread } from '../read/identify.ts';
import { ownPlaces } from '../read/places.ts';
import type { LeftOut } from '../read/reader.ts';
import { identifyStored } from '../read/stored/identify.ts';
import type { Spool } from '../spool/open.ts';

/** What lies on this machine of one agent, and what of it was not read yet. */
export interface AgentTranscripts {
  agent: Agent;
  found: Found[];
  /** Wanted, with something that is not captured. */
  unread: Unread[];
  /** Not wanted, with something that is not captured. */
  leftOut: LeftOut[];
  /** What could not be read. */
  troubles: Trouble[];
}

/**
 * Looks at every transcript and how far it was read; reads none of it, and writes nothing. `isAsked`: what a person wants
 * left out is respected; false where that cannot be known.
 */
export function lookAtTranscripts(context: Context, spool: Spool, { isAsked = true } = {}): AgentTranscripts[] {
  const policy = createPolicy(context);
  if (isAsked) policy.refresh();
  return context.agents.map((agent) => {
    const report: AgentTranscripts = { agent, found: [], unread: [], leftOut: [], troubles: [] };
    const onTrouble = (trouble: Trouble) => void report.troubles.push(trouble);
    report.found = findTranscripts(ownPlaces({ ...context, agents: [agent] }), onTrouble);
    for (const found of report.found) {
      const path = `${found.root}/${found.path}`;
      attempt(path, onTrouble, () => {
        for (const file of identifyAll(spool, found, context.now())) {
          const reason = isAsked ? policy.objection(agent.id, file.origin) : undefined;
          if (reason === undefined) report.unread.push(file);
          else report.leftOut.push({ agent: agent.id, session: file.origin.session, path, reason });
        }
      });
    }
    return report;
  });
}

/** What is left to read, and what is not wanted; nothing where there is neither. */
export function describeTranscripts(all: readonly AgentTranscripts[], now: number): string[] {
  const unread = all.flatMap((one) => one.unread.map(({ found }) => found.modifiedAt));
  const leftOut = all.flatMap((one) => one.leftOut);
  const troubles = all.flatMap((one) => one.troubles);
  const reasons = new Set(leftOut.map(({ reason }) => reason));
  return [
    ...(unread.length > 0
      ? [
          `Not read yet  ${formatCount(unread.length, 'transcript')}, the oldest for ${formatAge(now - Math.min(...unread))}`,
        ]
      : []),
    ...(troubles.length > 0
      ? [`Unreadable    ${formatCount(troubles.length, 'file or folder', 'files and folders')}`]
      : []),
    ...(leftOut.length > 0
      ? [`Left out      ${formatCount(leftOut.length, 'transcript')}: ${[...reasons].join(', ')}`]
      : []),
  ];
}

function identifyAll(spool: Spool, found: Found, now: number): Unread[] {
  const store = storeOf(found.agent, found.path);
  if (store) return identifyStored(spool, found, store, now, () => false);
  const file = identify(spool, found, false, () => false);
  return file ? [file] : [];
}
