import type { Item, LaneItem } from './items.ts';

/** A sub-agent in the tree of sub-agents. */
export interface Subagent {
  item: LaneItem;
  depth: number;
  name: string;
  /** Its task in one line. */
  task: string;
  outcome: Outcome;
}

/** The way a sub-agent ended; `open` if no end is known. */
export type Outcome = 'finished' | 'failed' | 'interrupted' | 'open';

/** All sub-agents, each after the one that started it. Sub-agents that started themselves, or each other, are at the top. */
export function readSubagents(lanes: readonly LaneItem[]): Subagent[] {
  const known = new Set(lanes.map(({ lane }) => lane));
  const parentOf = ({ anchored, starter }: LaneItem) => {
    const parent = anchored ? starter?.call?.lane : undefined;
    return parent !== undefined && known.has(parent) ? parent : undefined;
  };
  const children = Map.groupBy(lanes, parentOf);
  const below = (parent: string | undefined, depth: number): Subagent[] =>
    (children.get(parent) ?? []).flatMap((item) => [
      { item, depth, ...describe(item), outcome: outcomeOf(item) },
      ...below(item.lane, depth + 1),
    ]);
  return below(undefined, 0);
}

/** The outcome of a sub-agent. The call that starts it waits for it, unless it runs in the background. */
export function outcomeOf({ about, starter, items }: LaneItem): Outcome {
  if (starter?.failed) return 'failed';
  const phases = new Set(about.map(({ phase }) => phase));
  if (phases.has('finished')) return 'finished';
  const last = items.findLast((item) => item.kind === 'message');
  if (last?.entry.kind === 'turn' && last.entry.interrupted) return 'interrupted';
  const isAwaited = starter !== undefined && starter.results.length > 0 && !phases.has('started');
  return isAwaited ? 'finished' : 'open';
}

/**
 * The name and the task of a sub-agent, from its kind, its description and its prompt. Without a kind, the description is
 * its name, since the name of the tool that started it is the same for all sub-agents.
 */
export function describe({ about, starter, items, lane }: LaneItem): Pick<Subagent, 'name' | 'task'> {
  const described = about.find(({ description, agentType }) => description || agentType);
  const flat = items.flatMap((item): readonly Item[] => (item.kind === 'group' ? item.children : [item]));
  const entries = flat.flatMap((item) => (item.kind === 'quiet' ? item.entries : []));
  const prompt = entries.find((entry) => entry.kind === 'quiet' && entry.about.endsWith('subagent-prompt'));
  const descriptions = [...new Set([described?.description, starter?.call?.about].filter(Boolean))];
  const name = described?.agentType || descriptions.shift() || starter?.name || 'sub-agent';
  const preview = prompt?.kind === 'quiet' ? prompt.preview : undefined;
  return { name, task: [...descriptions, preview].filter(Boolean).join(' · ') || lane };
}

/** The sub-agent in one line, with its task, which distinguishes several of a kind. */
export function nameLane(item: LaneItem): string {
  const { name, task } = describe(item);
  return task === '' || task === item.lane ? name : `${name} · ${task}`;
}
