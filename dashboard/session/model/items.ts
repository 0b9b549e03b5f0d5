import type { FileStat } from '../../../contract/entry/changes.ts';
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
} from '../../../contract/entry/entry.ts';
import { orderOf } from '../../../contract/entry/revisions.ts';
import type { Spent } from './spent.ts';

/** What the timeline shows, as a tree: what can be folded holds what is folded into it. */
export type Item = MessageItem | ToolItem | GroupItem | LaneItem | QuietItem | RecordItem | IdleItem;

interface Base {
  /** Stays the same while events are added, so that what is open stays open. */
  key: string;
  /** The event that a link to the item names. */
  sequence: number;
  /** Grows down the timeline, which the sequence does not where a record was written again. */
  order: number;
  time: number;
}

export interface MessageItem extends Base {
  kind: 'message';
  entry: PromptEntry | AnswerEntry | CompactionEntry | TurnEntry | NoticeEntry;
}

/** A tool call with what it answered; an answer whose call is unknown stands alone. */
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

/** A run of tool calls, and what was recorded between them. */
export interface GroupItem extends Base {
  kind: 'group';
  children: readonly (ToolItem | QuietItem)[];
  calls: number;
  failures: number;
  durationMs: number;
}

/** A sub-agent and all it did. */
export interface LaneItem extends Base {
  kind: 'lane';
  lane: string;
  /** It stands below the call that started it, which says what it is about. */
  anchored: boolean;
  about: readonly SubagentEntry[];
  /** The call that started it, where that is known. */
  starter?: ToolItem | undefined;
  /** Tokens, those of the sub-agents below included. */
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

/** Stays in sight when its group is closed. */
export const standsOut = (item: ToolItem | QuietItem): boolean =>
  isTelling(item) || (item.kind === 'tool' && item.lanes.length > 0);

/** Of itself: which sub-agents a call started may be known much later, when its group is closed. */
export const isTelling = (item: ToolItem | QuietItem): boolean =>
  item.kind === 'tool' && (item.failed || item.changes.length > 0);

/** The one sub-agent that a call started: both are one line, which opens to what the sub-agent did. */
export const soleLane = (item: Item): LaneItem | undefined =>
  item.kind === 'tool' && item.lanes.length === 1 && item.changes.length === 0 ? item.lanes[0] : undefined;

/** The items that unfold below one. */
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

/** The events an item itself is made of, without those of its children. */
export function entriesOf(item: Item): readonly Entry[] {
  if (item.kind === 'message' || item.kind === 'record') return [item.entry];
  if (item.kind === 'tool') return item.call ? [item.call, ...item.results] : item.results;
  if (item.kind === 'lane') return item.about;
  return [];
}

/** The events that are in its line, also those of calls that are folded into it. */
export const sequencesOf = (item: Item): number[] =>
  (item.kind === 'group' ? item.children.flatMap(entriesOf) : entriesOf(item)).map(({ sequence }) => sequence);

/** A failure that a reader looks for. */
export const isFailure = (item: Item): boolean =>
  item.kind === 'tool' ? item.failed : item.kind === 'message' && item.entry.kind === 'error';

/** Grows whenever the item is not what it was, although it is the same item: answers come in later. */
export function versionOf(item: Item): number {
  if (item.kind === 'tool') return item.results.length + item.lanes.length;
  if (item.kind === 'quiet') return item.entries.length;
  if (item.kind === 'group') return item.children.reduce((sum, child) => sum + versionOf(child), 0);
  if (item.kind === 'lane') return item.about.length + item.calls + item.failures + item.items.length + item.durationMs;
  return 0;
}
