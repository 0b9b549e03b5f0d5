import type { LaneItem } from './items.ts';

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

/** Who it is, and what for. */
export function describe({ about, starter, items, lane }: LaneItem): Pick<Subagent, 'name' | 'task'> {
  const described = about.find(({ description, agentType }) => description || agentType);
  const quiet = items
    .find((item) => item.kind === 'quiet')
    ?.entries.find(({ eventType }) => eventType === 'context.message');
  const prompt = quiet?.kind === 'quiet' ? quiet.preview : undefined;
  return {
    name: described?.agentType ?? starter?.name ?? 'sub-agent',
    task: described?.description ?? (starter?.call?.about || prompt || lane),
  };
}
