import type { Entries, Entry, MetaEntry, PromptEntry, SubagentEntry } from '../../contract/entry/entry.ts';
import { foldMeta, type Meta } from '../../contract/entry/meta.ts';
import { orderOf, type Revisions, readRevisions } from '../../contract/entry/revisions.ts';
import { sumUsage, type Usage, type UsageTotals } from '../../contract/entry/usage.ts';
import { childrenOf, type Item, isFailure, type LaneItem, type ToolItem } from './items.ts';
import { createLaneBuilder, type LaneBuilder } from './lane.ts';

export interface Timeline {
  items: readonly Item[];
  prompts: readonly PromptEntry[];
  usage: UsageTotals;
  meta: Meta;
  toolCalls: number;
  failures: number;
  redactions: number;
  /** Where the events of records stand that were written again, by sequence. */
  orders: Revisions['orders'];
}

/** Everything the session page shows, from all the entries that are there. Pure: built anew when entries arrive. */
export function buildTimeline(entries: Entries, revisions = readRevisions(entries)): Timeline {
  const main = createLaneBuilder();
  const lanes = new Map<string, { builder: LaneBuilder; item: LaneItem }>();
  const tools = new Map<string, ToolItem>();
  const starters = findStarters(entries);
  const usages: Usage[] = [];
  const metas: MetaEntry[] = [];
  const prompts: PromptEntry[] = [];
  let redactions = 0;

  function laneOf(entry: Entry, lane: string) {
    const known = lanes.get(lane);
    if (known) return known;
    const made = { builder: createLaneBuilder(), item: newLane(lane, entry) };
    lanes.set(lane, made);
    if (!starters.has(lane)) main.add(made.item);
    return made;
  }

  function add(entry: Entry, builder: LaneBuilder): void {
    switch (entry.kind) {
      case 'usage':
        usages.push(entry.usage);
        return;
      case 'subagent':
        laneOf(entry, entry.subagent).item.about = [...laneOf(entry, entry.subagent).item.about, entry];
        return;
      case 'meta':
        if (entry.lane === undefined) metas.push(entry);
        builder.quiet(entry);
        return;
      case 'quiet':
      case 'part':
        builder.quiet(entry);
        return;
      case 'call': {
        builder.pause(entry);
        const tool = builder.call(entry);
        if (entry.callId !== undefined) tools.set(entry.callId, tool);
        return;
      }
      case 'result':
        builder.result(entry, entry.callId === undefined ? undefined : tools.get(entry.callId));
        return;
      case 'reasoning':
        // Encrypted thoughts say nothing.
        if (entry.length === 0) {
          builder.quiet(entry);
          return;
        }
        break;
      case 'prompt':
        if (entry.lane === undefined) prompts.push(entry);
    }
    builder.pause(entry);
    const order = orderOf(entry);
    builder.add({ kind: 'message', key: `m${order}`, order, sequence: entry.sequence, time: entry.time, entry });
  }

  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index];
    if (!entry) {
      const end = findNext(entries, index);
      const from = index + 1;
      main.add({ kind: 'gap', key: `x${from}`, sequence: from, order: from, time: 0, from, to: end });
      index = end - 1;
      continue;
    }
    for (const standing of revisions.standingAt(entry)) {
      redactions += standing.redactions ?? 0;
      add(standing, standing.lane === undefined ? main : laneOf(standing, standing.lane).builder);
    }
    index += entry.span - 1;
  }

  for (const { builder, item } of lanes.values()) {
    item.items = builder.finish();
    const { first, ...sums } = sumUp(item.items);
    Object.assign(item, sums, first > 0 && { time: first });
    const starter = tools.get(starters.get(item.lane) ?? '');
    if (starter) {
      item.anchored = true;
      starter.lanes.push(item);
    } else if (starters.has(item.lane)) main.add(item);
  }
  const items = main.finish();
  const all = sumUp(items);
  return {
    items,
    prompts,
    usage: sumUsage(usages),
    meta: foldMeta(metas),
    toolCalls: all.calls,
    failures: all.failures,
    redactions,
    orders: revisions.orders,
  };
}

/** Which call started which sub-agent. */
function findStarters(entries: Entries): ReadonlyMap<string, string> {
  const starters = new Map<string, string>();
  for (const entry of entries) {
    if (entry?.kind === 'subagent' && entry.callId !== undefined) starters.set(entry.subagent, entry.callId);
  }
  return starters;
}

const newLane = (lane: string, entry: Entry): LaneItem => ({
  kind: 'lane',
  key: `l${lane}`,
  sequence: entry.sequence,
  order: orderOf(entry),
  time: entry.time,
  lane,
  anchored: false,
  about: [] as SubagentEntry[],
  items: [],
  calls: 0,
  failures: 0,
  durationMs: 0,
});

/** The last sequence before entries are there again. */
function findNext(entries: Entries, from: number): number {
  let index = from;
  while (index < entries.length && !entries[index]) index++;
  return index;
}

interface Sums {
  calls: number;
  failures: number;
  durationMs: number;
  /** When the first of them was; 0 where there is none. */
  first: number;
}

function sumUp(items: readonly Item[]): Sums {
  let calls = 0;
  let failures = 0;
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  const visit = (item: Item) => {
    if (item.kind === 'tool') calls++;
    if (isFailure(item)) failures++;
    if (item.time > 0) first = Math.min(first, item.time);
    last = Math.max(last, endOf(item));
    if (item.kind !== 'quiet') for (const child of childrenOf(item)) visit(child);
  };
  for (const item of items) visit(item);
  return { calls, failures, durationMs: last > first ? last - first : 0, first: Number.isFinite(first) ? first : 0 };
}

const endOf = (item: Item): number =>
  item.kind === 'tool' ? Math.max(item.time, ...item.results.map(({ time }) => time)) : item.time;
