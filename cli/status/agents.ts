import type { Context } from '../context.ts';
import { formatBytes, formatCount } from '../output.ts';
import { findTranscripts } from '../read/discover.ts';
import { ownPlaces } from '../read/places.ts';
import type { SpoolReport } from './spool.ts';

export interface AgentReport {
  agent: string;
  name: string;
  transcripts: number;
  bytes: number;
  sessions: number;
  eventsSent: number;
}

/** What of each agent lies on this machine, and what of it is sent. */
export function lookAtAgents(context: Context, sent: SpoolReport['sent'] = []): AgentReport[] {
  return context.agents.map((agent) => {
    const found = findTranscripts(ownPlaces({ ...context, agents: [agent] }), () => {});
    const bytes = found.reduce((sum, { size }) => sum + size, 0);
    const { sessions = 0, eventsSent = 0 } = sent.find((row) => row.agent === agent.id) ?? {};
    return { agent: agent.id, name: agent.displayName, transcripts: found.length, bytes, sessions, eventsSent };
  });
}

export const describeAgent = ({ name, transcripts, bytes, sessions, eventsSent }: AgentReport): string =>
  `${name.padEnd(13)} ${formatCount(transcripts, 'transcript')} (${formatBytes(bytes)}), ` +
  `${formatCount(eventsSent, 'event')} of ${formatCount(sessions, 'session')} sent`;
