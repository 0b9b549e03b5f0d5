import type { Item, LaneItem } from './items.ts';

/** A sub-agent in the tree of who started whom. */
export interface Subagent {
  item: LaneItem;
  depth: number;
  name: string;
  /** What it was to do, in one line. */
  task: string;
}

/** All sub-agents, each after the one that started it. What started itself, or in a circle, stands at the top. */
export function readSubagents(lanes: readonly LaneItem[]): Subagent[] {
  const known = new Set(lanes.map(({ lane }) => lane));
  const parentOf = ({ anchored, starter }: LaneItem) => {
    const parent = anchored ? starter?.call?.lane : undefined;
    return parent !== undefined && known.has(parent) ? parent : undefined;
  };
  const children = Map.groupBy(lanes, parentOf);
  const below = (parent: string | undefined, depth: number): Subagent[] =>
    (children.get(parent) ?? []).flatMap((item) => [
      { item, depth, ...describe(item) },
      ...below(item.lane, depth + 1),
    ]);
  return below(undefined, 0);
}

/** Who it is, and what for: how it was described, and its prompt. */
export function describe({ about, starter, items, lane }: LaneItem): Pick<Subagent, 'name' | 'task'> {
  const described = about.find(({ description, agentType }) => description || agentType);
  const flat = items.flatMap((item): readonly Item[] => (item.kind === 'group' ? item.children : [item]));
  const entries = flat.flatMap((item) => (item.kind === 'quiet' ? item.entries : []));
  const prompt = entries.find((entry) => entry.kind === 'quiet' && entry.about.endsWith('subagent-prompt'));
  const words = [described?.description, starter?.call?.about, prompt?.kind === 'quiet' ? prompt.preview : undefined];
  return {
    name: described?.agentType ?? starter?.name ?? 'sub-agent',
    task: [...new Set(words.filter(Boolean))].join(' · ') || lane,
  };
}
