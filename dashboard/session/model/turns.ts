import type { PromptEntry } from '../../../transcript/entry/entry.ts';
import { orderOf } from '../../../transcript/entry/revisions.ts';
import type { Item, LaneItem } from './items.ts';
import { type Kind, kindOfTool } from './kinds.ts';
import type { Report, Spent } from './spent.ts';
import { type Sums, sumUp } from './sums.ts';

/** A prompt and everything up to the next prompt. Items before the first prompt are a turn without a prompt. */
export interface Turn extends Sums {
  prompt?: PromptEntry;
  /** The order of its first event. */
  order: number;
  items: readonly Item[];
  /** Tokens of its responses, including those of sub-agents. */
  spent: Spent;
  /** The agent was interrupted, by the person or by something else. */
  interrupted: boolean;
}

export function readTurns(items: readonly Item[]): Turn[] {
  const starts = items.flatMap((item, index) => (index === 0 || isPrompt(item) ? [index] : []));
  return starts.map((start, at): Turn => {
    const end = starts[at + 1] ?? items.length;
    const first = items[start] as Item;
    const inside = items.slice(start, end);
    const interrupted = inside.some(
      (item) => item.kind === 'message' && item.entry.kind === 'turn' && item.entry.interrupted,
    );
    const { order } = first;
    return { ...sumUp(inside), ...promptOf(first), order, items: inside, spent: [], interrupted };
  });
}

/** Adds the tokens of responses to their turns, to their sub-agents, and to the sub-agents above those. */
export function addSpent(
  reports: readonly Report[],
  turns: readonly Turn[],
  lanes: ReadonlyMap<string, LaneItem>,
): void {
  for (const lane of lanes.values()) lane.spent = [];
  const starterOf = ({ anchored, starter }: LaneItem) => (anchored ? lanes.get(starter?.call?.lane ?? '') : undefined);
  for (const report of reports) {
    const turn = turns[turnAt(turns, orderOf(report.entry))];
    turn?.spent.push(report);
    for (let lane = lanes.get(report.entry.lane ?? ''); lane; lane = starterOf(lane)) lane.spent.push(report);
  }
}

const isPrompt = (item: Item): boolean =>
  item.kind === 'message' && item.entry.kind === 'prompt' && item.entry.lane === undefined;

const promptOf = (item: Item) =>
  item.kind === 'message' && item.entry.kind === 'prompt' ? { prompt: item.entry } : undefined;

/** The most ticks of a turn. With more calls, several share a tick. */
const MAX_TICKS = 36;

/** The kinds of a turn's calls, in order. If several share a tick, it shows the most telling kind. */
export function microStrip({ items }: Turn): Kind[] {
  const kinds: Kind[] = [];
  const visit = (item: Item) => {
    if (item.kind === 'tool') {
      kinds.push(item.failed ? 'failure' : item.changes.length > 0 ? 'edit' : kindOfTool(item.name));
    }
    if (item.kind === 'group') for (const child of item.children) visit(child);
  };
  for (const item of items) visit(item);
  const width = Math.ceil(kinds.length / MAX_TICKS);
  if (width <= 1) return kinds;
  return Array.from({ length: Math.ceil(kinds.length / width) }, (_, at) => {
    const some = kinds.slice(at * width, (at + 1) * width);
    return some.find((kind) => kind === 'failure') ?? some.find((kind) => kind === 'edit') ?? (some[0] as Kind);
  });
}

/** The index of the turn that contains this order. */
export function turnAt(turns: readonly Turn[], order: number): number {
  let [low, high] = [0, turns.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((turns[middle] as Turn).order <= order) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The number of a turn for people, who do not count items before the first prompt as a turn. */
export const turnNumber = (turns: readonly Turn[], at: number): number => (turns[0]?.prompt ? at + 1 : at);
