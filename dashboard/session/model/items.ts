import type { FileStat } from '../../../transcript/entry/changes.ts';
import type {
  AnswerEntry,
  CallEntry,
  CompactionEntry,
  Entry,
  NoticeEntry,
  PromptEntry,
  ResultEntry,
  SubagentEntry,
  TurnEntry,
} from '../../../transcript/entry/entry.ts';
import { orderOf } from '../../../transcript/entry/revisions.ts';
import type { Spent } from './spent.ts';

/** An item of the timeline. Items form a tree: an item that can be folded contains its children. */
export type Item = MessageItem | ToolItem | GroupItem | LaneItem | QuietItem | RecordItem | IdleItem;

interface Base {
  /** Stays the same while events are added, so that open items stay open. */
  key: string;
  /** The event in a link to the item. */
  sequence: number;
  /** Grows down the timeline, unlike the sequence of a record that was written again. */
  order: number;
  time: number;
}

export interface MessageItem extends Base {
  kind: 'message';
  entry: PromptEntry | AnswerEntry | CompactionEntry | TurnEntry | NoticeEntry;
}

/** A tool call with its results. A result without a known call is an item of its own. */
export interface ToolItem extends Base {
  kind: 'tool';
  name: string;
  call?: CallEntry;
  results: ResultEntry[];
  failed: boolean;
  durationMs?: number;
  changes: readonly FileStat[];
  /** The sub-agents that the call started. */
  lanes: LaneItem[];
}

/** Successive tool calls and the records between them. */
export interface GroupItem extends Base {
  kind: 'group';
  children: readonly (ToolItem | QuietItem)[];
  calls: number;
  failures: number;
  durationMs: number;
}

/** A sub-agent with its timeline. */
export interface LaneItem extends Base {
  kind: 'lane';
  lane: string;
  /** Whether it is shown below the call that started it. */
  anchored: boolean;
  about: readonly SubagentEntry[];
  /** The call that started it, if known. */
  starter?: ToolItem | undefined;
  /** Tokens, including those of the sub-agents below. */
  spent: Spent;
  items: Item[];
  calls: number;
  failures: number;
  durationMs: number;
}

/** Entries that are folded into one muted line. */
export interface QuietItem extends Base {
  kind: 'quiet';
  entries: Entry[];
}

export interface RecordItem extends Base {
  kind: 'record';
  entry: Entry;
}

export interface IdleItem extends Base {
  kind: 'idle';
  durationMs: number;
}

/** Whether the item stays visible when its group is closed. */
export const standsOut = (item: ToolItem | QuietItem): boolean =>
  isTelling(item) || (item.kind === 'tool' && item.lanes.length > 0);

/** Whether the item stands out by itself. The sub-agents of a call may become known much later, when its group is closed. */
export const isTelling = (item: ToolItem | QuietItem): boolean =>
  item.kind === 'tool' && (item.failed || item.changes.length > 0);

/** The only sub-agent that a call started. Both share one line, which opens to the sub-agent's timeline. */
export const soleLane = (item: Item): LaneItem | undefined =>
  item.kind === 'tool' && item.lanes.length === 1 && item.changes.length === 0 ? item.lanes[0] : undefined;

/** The items that unfold below an item. */
export function childrenOf(item: Item): readonly Item[] {
  if (item.kind === 'group') return item.children;
  if (item.kind === 'lane') return item.items;
  if (item.kind === 'tool') return item.lanes;
  if (item.kind === 'quiet') return item.entries.map(toRecord);
  return [];
}

const toRecord = (entry: Entry): RecordItem => ({
  kind: 'record',
  key: `r${orderOf(entry)}`,
  sequence: entry.sequence,
  order: orderOf(entry),
  time: entry.time,
  entry,
});

/** The entries of an item itself, without those of its children. */
export function entriesOf(item: Item): readonly Entry[] {
  if (item.kind === 'message' || item.kind === 'record') return [item.entry];
  if (item.kind === 'tool') return item.call ? [item.call, ...item.results] : item.results;
  if (item.kind === 'lane') return item.about;
  return [];
}

/** The events in the line of an item, including those of calls that are folded into it. */
export const sequencesOf = (item: Item): number[] =>
  (item.kind === 'group' ? item.children.flatMap(entriesOf) : entriesOf(item)).map(({ sequence }) => sequence);

/** Whether the item is a failure that a reader can jump to. */
export const isFailure = (item: Item): boolean =>
  item.kind === 'tool' ? item.failed : item.kind === 'message' && item.entry.kind === 'error';

/** Grows whenever the item changes, for example when a result arrives. */
export function versionOf(item: Item): number {
  if (item.kind === 'tool') return item.results.length + item.lanes.length;
  if (item.kind === 'quiet') return item.entries.length;
  if (item.kind === 'group') return item.children.reduce((sum, child) => sum + versionOf(child), 0);
  if (item.kind === 'lane') return item.about.length + item.calls + item.failures + item.items.length + item.durationMs;
  return 0;
}
