import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentId } from '../../../contract/agent.ts';
import type { CapturedEvent } from '../../../transcript/vocabulary.ts';

/** The columns of the support matrix in docs/agents.md. */
export const FEATURES = [
  'prompts',
  'answers',
  'calls',
  'results',
  'tokens',
  'cost',
  'sub-agents',
  'forks',
  'compactions',
  'live',
  'resume',
] as const;
export type Feature = (typeof FEATURES)[number];

/** What the tests with the real program saw of an agent. */
export interface Tested {
  version: string;
  features: Feature[];
  /** The types of the records that it wrote. */
  records: string[];
  /** The kinds of records of which no reader made an event. */
  unread: string[];
}

/** `UPDATE_MATRIX=1 script/test --agents` rewrites this file; read the difference before you commit it. */
export const TESTED_FILE = join(import.meta.dirname, 'tested.json');

export const readTested = (): { [agentId in AgentId]?: Tested } => JSON.parse(readFileSync(TESTED_FILE, 'utf8'));

/** How an event of a session shows a feature. Only a running program shows the other features. */
const SHOWS: { [feature in Feature]?: (event: CapturedEvent) => boolean } = {
  prompts: ({ eventType }) => eventType === 'user.message',
  answers: ({ eventType }) => eventType === 'assistant.message',
  calls: ({ eventType }) => eventType === 'tool.call',
  results: ({ eventType }) => eventType === 'tool.result',
  tokens: ({ eventType }) => eventType === 'usage',
  'sub-agents': ({ eventType, payload }) => eventType === 'subagent.started' || payload.source.subagent !== undefined,
  forks: ({ eventType, payload }) => eventType === 'session.meta' && payload.forkedFrom !== undefined,
  compactions: ({ eventType }) => eventType === 'compaction',
};

/** The features that events show. Tokens have a cost if some event names the model. */
export function featuresOf(events: readonly CapturedEvent[]): Set<Feature> {
  const seen = new Set(FEATURES.filter((feature) => events.some((event) => SHOWS[feature]?.(event))));
  const namesModel = events.some(({ payload }) => 'model' in payload && payload.model !== undefined);
  if (seen.has('tokens') && namesModel) seen.add('cost');
  return seen;
}

/** The kinds of records that only have the event `record`: no reader knows them, or needs them. */
export function unreadKinds(events: readonly CapturedEvent[]): string[] {
  const kinds = events.flatMap(({ eventType, payload }) => (eventType === 'record' ? [payload.kind ?? ''] : []));
  return [...new Set(kinds)].sort();
}

/** The reviewed events of an agent's hand-written sessions. */
export function sampleEvents(agent: AgentId): CapturedEvent[] {
  const folder = join(import.meta.dirname, 'golden', agent);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => {
    const golden = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { events: CapturedEvent[] };
    return golden.events;
  });
}

/**
 * What a version of an agent no longer shows, and what it writes that no reader knows. The samples contain records that a reader
 * knows and needs no event for.
 */
export function explainChange(agent: AgentId, before: Tested, now: Tested): string[] {
  const known = new Set([...before.unread, ...unreadKinds(sampleEvents(agent))]);
  const added = now.unread.filter((kind) => !known.has(kind));
  return [
    ...added.map((kind) => `${agent} ${now.version}: no reader knows the record ${kind || 'without a kind'}`),
    ...explainLoss(agent, before, now),
  ];
}

/** A feature is mostly gone because its record has another type, so the changed types are named. */
function explainLoss(agent: AgentId, before: Tested, now: Tested): string[] {
  const gone: Feature[] = before.features.filter((feature) => !now.features.includes(feature));
  const added = now.records.filter((type) => !before.records.includes(type));
  const removed = before.records.filter((type) => !now.records.includes(type));
  return gone.map(
    (feature) =>
      `${agent} ${now.version}: no ${feature}, unlike ${before.version}. ` +
      `New types of records: ${listOf(added)}. Types that are gone: ${listOf(removed)}`,
  );
}

const listOf = (types: readonly string[]) => types.join(', ') || 'none';
