import { editsAfter } from '../../../transcript/entry/edits.ts';
import type { CallEntry, Entry, ResultEntry } from '../../../transcript/entry/entry.ts';
import { orderOf } from '../../../transcript/entry/revisions.ts';
import { type GroupItem, type Item, isTelling, type QuietItem, type ToolItem } from './items.ts';

/** A longer pause is shown as idle time. */
export const IDLE_MS = 5 * 60_000;

/** Turns the entries of the conversation, or of one sub-agent, into items, in the order of the entries. */
export interface LaneBuilder {
  add(item: Item): void;
  call(entry: CallEntry): ToolItem;
  /** @param tool the call of this result, if it is known */
  result(entry: ResultEntry, tool: ToolItem | undefined): void;
  quiet(entry: Entry): void;
  /** Adds an idle line after a long pause. Called before the entry that ends the pause is added. */
  pause(entry: Entry): void;
  /** A new prompt: calls without a result get none any more. */
  interrupt(): void;
  /** The items so far, followed by `others`. More may be added afterwards. */
  finish(others?: readonly Item[]): Item[];
}

/** The group of each call, in all lanes. */
export type Groups = WeakMap<ToolItem, GroupItem>;

export function createLaneBuilder(groups: Groups): LaneBuilder {
  const items: Item[] = [];
  const answered = new WeakSet<ToolItem>();
  let run: (ToolItem | QuietItem)[] = [];
  /** Calls without a result. Some may have one already, but never the last one. */
  const open: ToolItem[] = [];
  let duplicates: Entry[] = [];
  let lastTime: number | undefined;

  function fold(entries: Entry[]) {
    const last = run.length > 0 ? run.at(-1) : items.at(-1);
    if (last?.kind === 'quiet') last.entries.push(...entries);
    else run.push(newQuiet(entries));
  }

  function flush() {
    const closed = closeRun(run);
    for (const item of closed) {
      if (item.kind !== 'group') continue;
      for (const child of item.children) if (child.kind === 'tool') groups.set(child, item);
    }
    items.push(...closed);
    run = [];
  }

  return {
    add(item) {
      flush();
      items.push(item);
    },
    call(entry) {
      const tool = newTool(entry.name, entry);
      tool.call = entry;
      tool.changes = entry.changes;
      run.push(tool);
      open.push(tool);
      return tool;
    },
    result(entry, known) {
      // While a script runs, Codex reports the results of its commands under ids of their own.
      const tool = known ?? open.at(-1) ?? newTool(entry.name ?? 'tool', entry);
      if (known) {
        answered.add(known);
        while (open.length > 0 && answered.has(open.at(-1) as ToolItem)) open.pop();
      } else if (open.length === 0) run.push(tool);
      const { failed, durationMs = 0 } = tool;
      addResult(tool, entry);
      const group = groups.get(tool);
      if (group) {
        group.failures += Number(tool.failed) - Number(failed);
        group.durationMs += (tool.durationMs ?? 0) - durationMs;
      }
      if (entry.timed) lastTime = Math.max(lastTime ?? 0, entry.time);
    },
    quiet(entry) {
      // Some agents write each message twice. The copy is folded into the next quiet line instead of starting one.
      if (entry.kind === 'quiet' && entry.isDuplicate) {
        duplicates.push(entry);
        return;
      }
      fold([...duplicates, entry]);
      duplicates = [];
    },
    pause(entry) {
      if (!entry.timed) return;
      const durationMs = entry.time - (lastTime ?? entry.time);
      lastTime = Math.max(lastTime ?? 0, entry.time);
      if (durationMs <= IDLE_MS || open.length > 0) return;
      flush();
      items.push({ kind: 'idle', key: `i${orderOf(entry)}`, ...at(entry), durationMs });
    },
    interrupt() {
      open.length = 0;
    },
    finish(others = []) {
      const all = [...items, ...closeRun(run), ...others];
      if (duplicates.length === 0) return all;
      const last = all.at(-1);
      if (last?.kind === 'quiet') all[all.length - 1] = { ...last, entries: [...last.entries, ...duplicates] };
      else all.push(newQuiet(duplicates.slice()));
      return all;
    },
  };
}

/** Turns successive calls into a group, unless that would only hide one line behind another. */
function closeRun(run: readonly (ToolItem | QuietItem)[]): (GroupItem | ToolItem | QuietItem)[] {
  const last = run.at(-1);
  const trailing = last?.kind === 'quiet' ? [last] : [];
  const body = trailing.length > 0 ? run.slice(0, -1) : run;
  const folded = body.filter((item) => !isTelling(item)).length;
  const tools = body.filter((item) => item.kind === 'tool');
  return tools.length > 1 && folded > 1 ? [toGroup(body, tools), ...trailing] : [...body, ...trailing];
}

const at = (entry: Entry) => ({ sequence: entry.sequence, order: orderOf(entry), time: entry.time });

function newQuiet(entries: Entry[]): QuietItem {
  const first = entries[0] as Entry;
  return { kind: 'quiet', key: `q${orderOf(first)}`, ...at(first), entries };
}

const newTool = (name: string, entry: Entry): ToolItem => ({
  kind: 'tool',
  key: `t${orderOf(entry)}`,
  ...at(entry),
  name,
  results: [],
  failed: false,
  changes: [],
  lanes: [],
});

function addResult(tool: ToolItem, entry: ResultEntry): void {
  const isTold = tool.results.some(({ changes, failed }) => changes.length > 0 && !failed);
  tool.changes = editsAfter({ changes: tool.changes, isTold }, entry).changes;
  tool.results.push(entry);
  tool.failed ||= entry.failed;
  // A record with both call and result has only one time for them.
  const isApart = entry.writing === undefined || tool.call?.writing?.key !== entry.writing.key;
  const took = tool.call?.timed && entry.timed && isApart ? entry.time - tool.call.time : undefined;
  const durationMs = entry.durationMs ?? took;
  if (durationMs !== undefined && durationMs >= 0) tool.durationMs = Math.max(durationMs, tool.durationMs ?? 0);
}

function toGroup(children: readonly (ToolItem | QuietItem)[], tools: readonly ToolItem[]): GroupItem {
  const first = tools[0] as ToolItem;
  return {
    kind: 'group',
    key: `g${first.order}`,
    ...{ sequence: first.sequence, order: first.order, time: first.time },
    children,
    calls: tools.length,
    failures: tools.filter(({ failed }) => failed).length,
    durationMs: tools.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0),
  };
}
