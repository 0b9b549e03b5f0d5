import type { HookState } from '../hooks/inspect.ts';
import { formatBytes, formatCount } from '../output.ts';
import type { SpoolReport } from './spool.ts';
import type { AgentTranscripts } from './transcripts.ts';

export interface AgentReport {
  agent: string;
  name: string;
  transcripts: number;
  bytes: number;
  sessions: number;
  eventsSent: number;
}

/** What of each agent lies on this machine, and what of it is sent. */
export function reportAgents(all: readonly AgentTranscripts[], sent: SpoolReport['sent'] = []): AgentReport[] {
  return all.map(({ agent, found }) => {
    const bytes = found.reduce((sum, { size }) => sum + size, 0);
    const { sessions = 0, eventsSent = 0 } = sent.find((row) => row.agent === agent.id) ?? {};
    return { agent: agent.id, name: agent.displayName, transcripts: found.length, bytes, sessions, eventsSent };
  });
}

/** A line an agent, for those that there is something of; of several that share an id, what was sent is one figure. */
export function describeAgents(agents: readonly AgentReport[]): string[] {
  const present = agents.filter(({ transcripts }) => transcripts > 0);
  const gone = agents.filter(({ agent, eventsSent }) => eventsSent > 0 && !present.some((one) => one.agent === agent));
  const shown = [...present, ...new Map(gone.map((one) => [one.agent, one])).values()];
  if (shown.length === 0) return ['Agents        none has written a transcript yet'];
  return shown.map(describeAgent);
}

const describeAgent = ({ name, transcripts, bytes, sessions, eventsSent }: AgentReport): string =>
  `${name.padEnd(13)} ${formatCount(transcripts, 'transcript')} (${formatBytes(bytes)}), ` +
  `${formatCount(eventsSent, 'event')} of ${formatCount(sessions, 'session')} sent`;

/** Hooks of every agent that is here, in one line. */
export function describeHooks(hooks: readonly HookState[]): string[] {
  const here = hooks.filter((state) => state.found && state.hooks !== 'none');
  if (here.length === 0) return [];
  const groups = Map.groupBy(here, judge);
  const told = ORDER.flatMap((word) => {
    const names = groups.get(word)?.map(({ name }) => name);
    return names === undefined ? [] : [`${word} for ${names.join(', ')}`];
  });
  return [`Hooks         ${told.join('; ')}`];
}

const ORDER = ['installed', 'not run', 'not trusted', 'incomplete', 'unreadable', 'missing'] as const;

function judge({ hooks, disabled, trusted }: HookState): (typeof ORDER)[number] {
  if (hooks === 'missing') return 'missing';
  if (hooks === 'unparsable') return 'unreadable';
  if (disabled !== undefined) return 'not run';
  if (trusted === false) return 'not trusted';
  return hooks === 'partial' ? 'incomplete' : 'installed';
}
