import {
  type AnswerEntry,
  type CallEntry,
  type Entries,
  type Entry,
  eachOf,
  type MetaEntry,
  type PromptEntry,
  type QuietEntry,
  type SubagentEntry,
} from '../../../transcript/entry/entry.ts';
import { readOwnLanes } from '../../../transcript/entry/lanes.ts';
import { foldMeta, type Meta } from '../../../transcript/entry/meta.ts';
import { orderOf, type Revisions, readRevisions } from '../../../transcript/entry/revisions.ts';
import type { UsageTotals } from '../../../transcript/entry/usage.ts';
import type { Item, LaneItem, MessageItem, ToolItem } from './items.ts';
import { createLaneBuilder, type Groups, type LaneBuilder } from './lane.ts';
import { createRepeats } from './repeats.ts';
import { createSpending } from './spent.ts';
import { sumUp } from './sums.ts';
import { addSpent, readTurns, type Turn } from './turns.ts';

export interface Timeline {
  items: readonly Item[];
  turns: readonly Turn[];
  prompts: readonly PromptEntry[];
  lanes: readonly LaneItem[];
  /** The entries of the session, in the order of the timeline. */
  entries: readonly Entry[];
  usage: UsageTotals;
  meta: Meta;
  toolCalls: number;
  failures: number;
  redactions: number;
  /** Whether any event has a time of its own. Some agents write no times; then entries have the times of their capture. */
  hasTimes: boolean;
  /** The order of events whose records were written again, by sequence. */
  orders: Revisions['orders'];
}

export interface TimelineBuilder {
  /** Adds the next entry of the timeline. */
  add(entry: Entry): void;
  /** The timeline so far; more may be added afterwards. */
  finish(): Timeline;
  /** Whether an added entry made the timeline before it wrong. */
  isStale(): boolean;
}

/** Builds the timeline from all entries at once. */
export function buildTimeline(entries: Entries, revisions = readRevisions(entries)): Timeline {
  const builder = createTimelineBuilder(readSubagentFacts(entries), revisions.orders);
  for (const entry of eachOf(entries)) for (const standing of revisions.standingAt(entry)) builder.add(standing);
  return builder.finish();
}

/** Facts about sub-agents that are needed before their events are put into lanes. */
export interface SubagentFacts {
  /** The id of the call that started each sub-agent. */
  starters: Map<string, string>;
  /** Sub-agents with transcripts of their own. */
  own: Set<string>;
}

export function readSubagentFacts(entries: Entries): SubagentFacts {
  const starters = new Map<string, string>();
  const briefs = createBriefs();
  for (const entry of eachOf(entries)) {
    if (entry.kind === 'subagent') noteStarter(starters, entry);
    if (entry.echo?.starter && entry.lane !== undefined) starters.set(entry.lane, entry.echo.starter);
    if (entry.kind === 'call') briefs.give(entry);
  }
  for (const entry of eachOf(entries)) {
    if (entry.lane === undefined || starters.has(entry.lane)) continue;
    const callId = briefs.take(entry);
    if (callId !== undefined) starters.set(entry.lane, callId);
  }
  return { starters, own: readOwnLanes(entries) };
}

/** Calls that start sub-agents, by the prompts they pass on, since a sub-agent's file may not name the call. */
function createBriefs() {
  const given = new Map<string, string[]>();
  return {
    give({ brief, callId }: CallEntry): void {
      if (brief !== undefined && callId !== undefined) given.set(brief, [...(given.get(brief) ?? []), callId]);
    },
    /** Each call starts one sub-agent. */
    take: (entry: Entry): string | undefined =>
      entry.kind === 'quiet' && entry.brief !== undefined ? given.get(entry.brief)?.shift() : undefined,
  };
}

/** Notes the call that started a sub-agent. Other calls wait for the sub-agent or close it. */
function noteStarter(starters: Map<string, string>, { phase, subagent, callId }: SubagentEntry): void {
  if (callId !== undefined && (phase === 'started' || !starters.has(subagent))) starters.set(subagent, callId);
}

/** Deepest nesting of sub-agents. Deeper ones, and those that started themselves, are put at the end. */
const MAX_NESTED = 20;

const NONE_MOVED: Revisions['orders'] = new Map();

/** @param facts known facts about sub-agents, before their events are added */
export function createTimelineBuilder(
  { starters, own }: SubagentFacts = { starters: new Map(), own: new Set() },
  orders = NONE_MOVED,
): TimelineBuilder {
  const briefs = createBriefs();
  const groups: Groups = new WeakMap();
  const main = createLaneBuilder(groups);
  const lanes = new Map<string, { builder: LaneBuilder; item: LaneItem; isFree: boolean; isChanged: boolean }>();
  const tools = new Map<string, ToolItem>();
  const nesting = new Set<ToolItem>();
  const metas: MetaEntry[] = [];
  const prompts: PromptEntry[] = [];
  /** The last compaction of each lane. */
  const compactions = new Map<string | undefined, MessageItem>();
  const all: Entry[] = [];
  /** Sub-agents with some events in the file of the session itself. */
  const echoed = new Set<string>();
  /** The sub-agents by the paths under which Codex names them. */
  const paths = new Map<string, string>();
  const repeats = createRepeats();
  const spending = createSpending();
  let redactions = 0;
  let hasTimes = false;
  let isStale = false;

  function laneOf(entry: Entry, lane: string) {
    const known = lanes.get(lane);
    if (known) {
      known.isChanged = true;
      return known;
    }
    const made = {
      builder: createLaneBuilder(groups),
      item: newLane(lane, entry),
      isFree: !starters.has(lane),
      isChanged: true,
    };
    lanes.set(lane, made);
    if (made.isFree) main.add(made.item);
    return made;
  }

  /** Whether the call and the calls that started the sub-agents around it are all known. Their records may be forged. */
  function isNested(tool: ToolItem | undefined): boolean {
    let around = tool;
    for (let depth = 0; depth < MAX_NESTED; depth++) {
      const lane = around?.call?.lane;
      if (lane === undefined || !starters.has(lane)) return around !== undefined;
      around = tools.get(starters.get(lane) as string);
    }
    return false;
  }

  function nest(tool: ToolItem, lane: LaneItem): void {
    tool.lanes.push(lane);
    nesting.add(tool);
  }

  function addSubagent(entry: SubagentEntry): void {
    noteStarter(starters, entry);
    if (entry.phase === 'started' && entry.description !== undefined) paths.set(entry.description, entry.subagent);
    const { item, isFree } = laneOf(entry, entry.subagent);
    item.about = [...item.about, entry];
    // The lane was put where the sub-agent began, but belongs below its call.
    if (isFree && starters.has(entry.subagent)) isStale = true;
  }

  /** The result of a sub-agent in the file of its parent. It is shown there unless the sub-agent's own transcript has it. */
  function addSent(entry: AnswerEntry, sender: string, parent: LaneBuilder): void {
    const subagent = paths.get(sender);
    const isShown = subagent !== undefined && !own.has(subagent);
    if (!isShown) parent.quiet(toRecord(entry, 'context.message · agent_message'));
    if (subagent === undefined) return;
    const { sequence, span, eventType, time, timed } = entry;
    addSubagent({ sequence, span, eventType, time, timed, kind: 'subagent', phase: 'finished', subagent });
    if (!isShown) return;
    echoed.add(subagent);
    addMessage(entry, laneOf(entry, subagent).builder);
  }

  /** The lane of a sub-agent's entry. Notes the call that started the sub-agent if the entry names it. */
  function laneFor(entry: Entry, lane: string): LaneBuilder {
    if (entry.kind === 'quiet' && entry.brief !== undefined && !starters.has(lane)) {
      const callId = briefs.take(entry);
      if (callId !== undefined) starters.set(lane, callId);
    }
    if (entry.echo?.starter !== undefined) starters.set(lane, entry.echo.starter);
    // Copies of its events that were added before its own transcript have to go.
    if (!entry.echo && !own.has(lane) && echoed.has(lane)) isStale = true;
    (entry.echo ? echoed : own).add(lane);
    const { builder, isFree } = laneOf(entry, lane);
    if (isFree && starters.has(lane)) isStale = true;
    return builder;
  }

  function add(entry: Entry, builder: LaneBuilder): void {
    const isRepeat = repeats.isRepeat(entry);
    switch (entry.kind) {
      case 'usage':
        return;
      case 'subagent':
        addSubagent(entry);
        return;
      case 'meta':
        if (entry.lane === undefined) metas.push(entry);
        builder.quiet(entry);
        return;
      case 'quiet':
        if (entry.summaryLength !== undefined && addSummary(entry, entry.summaryLength)) return;
        builder.quiet(entry);
        return;
      case 'part':
        builder.quiet(entry);
        return;
      case 'call': {
        builder.pause(entry);
        briefs.give(entry);
        const tool = builder.call(entry);
        if (entry.callId !== undefined) tools.set(entry.callId, tool);
        return;
      }
      case 'result': {
        const tool = entry.callId === undefined ? undefined : tools.get(entry.callId);
        if (tool?.call?.lane !== undefined) laneOf(entry, tool.call.lane);
        builder.result(entry, tool);
        return;
      }
      case 'answer':
        if (entry.sender === undefined) break;
        addSent(entry, entry.sender, builder);
        return;
      case 'reasoning':
        // Encrypted reasoning has no text.
        if (entry.length === 0 || isRepeat) {
          builder.quiet(isRepeat ? toRecord(entry, 'assistant.reasoning') : entry);
          return;
        }
        break;
      case 'prompt':
        builder.interrupt();
        if (entry.lane === undefined) prompts.push(entry);
    }
    addMessage(entry, builder);
  }

  function addMessage(entry: MessageItem['entry'], builder: LaneBuilder): void {
    builder.pause(entry);
    const order = orderOf(entry);
    const { sequence, time } = entry;
    const item: MessageItem = { kind: 'message', key: `m${order}`, order, sequence, time, entry };
    if (entry.kind === 'compaction') compactions.set(entry.lane, item);
    builder.add(item);
  }

  /** @returns false if there is no compaction, or if it has a summary of its own */
  function addSummary({ lane, sequence, span, preview: text }: QuietEntry, length: number): boolean {
    const item = compactions.get(lane);
    if (item?.entry.kind !== 'compaction' || item.entry.length > 0) return false;
    item.entry = { ...item.entry, text, length, summary: { sequence, span } };
    return true;
  }

  return {
    isStale: () => isStale,
    add(entry) {
      if (entry.echo && entry.lane !== undefined && own.has(entry.lane)) {
        main.quiet(toRecord(entry, 'notice · agent_progress'));
        return;
      }
      all.push(entry);
      spending.add(entry);
      redactions += entry.redactions ?? 0;
      hasTimes ||= entry.timed;
      add(entry, entry.lane === undefined ? main : laneFor(entry, entry.lane));
    },
    finish() {
      const homeless: LaneItem[] = [];
      for (const lane of lanes.values()) if (lane.isChanged) finishLane(lane);
      for (const tool of nesting) tool.lanes = [];
      for (const { item, isFree } of lanes.values()) {
        const starter = tools.get(starters.get(item.lane) ?? '');
        item.starter = starter;
        item.anchored = !isFree && isNested(starter);
        if (starter && item.anchored) nest(starter, item);
        else if (!isFree) homeless.push(item);
      }
      for (const { item } of lanes.values()) sumLane(item);
      const items = main.finish(homeless);
      const turns = readTurns(items);
      addSpent(spending.reports, turns, new Map([...lanes].map(([lane, { item }]) => [lane, item])));
      return {
        items,
        turns,
        prompts: prompts.slice(),
        lanes: [...lanes.values()].map(({ item }) => item),
        entries: all,
        usage: spending.usage(),
        meta: foldMeta(metas),
        toolCalls: sumOf(turns, 'calls'),
        failures: sumOf(turns, 'failures'),
        redactions,
        hasTimes,
        orders,
      };
    },
  };
}

/** Turns an entry into a record, because another entry says the same. */
function toRecord({ sequence, span, eventType, time, timed, redactions, order }: Entry, about: string): QuietEntry {
  return {
    ...{ sequence, span, eventType, time, timed },
    ...(redactions !== undefined && { redactions }),
    ...(order !== undefined && { order }),
    ...{ kind: 'quiet', about, preview: '', isDuplicate: true },
  };
}

/** Every item is in a turn, so the sum covers the session. */
const sumOf = (turns: readonly Turn[], figure: 'calls' | 'failures') =>
  turns.reduce((sum, turn) => sum + turn[figure], 0);

function finishLane(lane: { builder: LaneBuilder; item: LaneItem; isChanged: boolean }): void {
  lane.item.items = lane.builder.finish();
  lane.isChanged = false;
}

/** Sums up a lane, including the sub-agents below it. */
function sumLane(item: LaneItem): void {
  const { first, calls, failures, durationMs } = sumUp(item.items);
  Object.assign(item, { calls, failures, durationMs }, first > 0 && { time: first });
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
  spent: [],
  items: [],
  calls: 0,
  failures: 0,
  durationMs: 0,
});
