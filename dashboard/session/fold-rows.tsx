import type { Entry } from '../../transcript/entry/entry.ts';
import { formatDuration, plural } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import { Fold } from './fold.tsx';
import { type GroupItem, type LaneItem, type QuietItem, standsOut, type ToolItem } from './model/items.ts';
import { kindOfTool } from './model/kinds.ts';
import { describe } from './model/subagents.ts';

interface Props<Item> {
  item: Item;
  isOpen: boolean;
  onToggle: () => void;
}

/** Several tool calls in a row. */
export function Group({ item, isOpen, onToggle }: Props<GroupItem>) {
  const shown = item.children.filter(standsOut).length;
  return (
    <Fold isOpen={isOpen} onToggle={onToggle}>
      {!isOpen && <Ticks item={item} />}
      <span className="whitespace-nowrap">{plural(item.calls, 'tool call')}</span>
      <Failures count={item.failures} />
      <span className="min-w-0 grow truncate text-muted">
        {namesIn(item)}
        {!isOpen && shown > 0 && ` · ${shown} shown below`}
      </span>
      <Took durationMs={item.durationMs} />
    </Fold>
  );
}

const TICKS_PX = 96;
const MAX_TICKS = 40;

/** A tick for each call: wider for a longer call, red for a failed one. */
function Ticks({ item }: { item: GroupItem }) {
  const tools = item.children.filter((child) => child.kind === 'tool').slice(0, MAX_TICKS);
  const longest = Math.max(1, ...tools.map(({ durationMs = 0 }) => durationMs));
  const room = TICKS_PX / tools.length;
  return (
    <span aria-hidden className="flex h-3 flex-none items-stretch gap-px">
      {tools.map((tool) => (
        <span
          key={tool.key}
          className="rounded-[1px] bg-(--kind)"
          data-kind={tool.failed ? 'failure' : tool.changes.length > 0 ? 'edit' : kindOfTool(tool.name)}
          style={{ width: Math.max(2, Math.min(14, room) * Math.sqrt((tool.durationMs ?? 0) / longest)) }}
        />
      ))}
    </span>
  );
}

/** `Read 4, Bash 2`, the most frequent first. */
function namesIn({ children }: GroupItem): string {
  const counts = new Map<string, number>();
  for (const child of children) if (child.kind === 'tool') counts.set(child.name, (counts.get(child.name) ?? 0) + 1);
  const names = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 8);
  return names.map(([name, count]) => (count > 1 ? `${showHidden(name)} ${count}` : showHidden(name))).join(' · ');
}

interface LaneProps extends Props<LaneItem> {
  /** The call that started the sub-agent, if both share one line. */
  call?: ToolItem;
}

/** A sub-agent: its name, its task and its outcome. */
export function Lane({ item, call, isOpen, onToggle }: LaneProps) {
  const { name, task } = describe(item);
  return (
    <Fold isOpen={isOpen} onToggle={onToggle} kind={call?.failed ? 'failure' : 'subagent'}>
      <span className="tool-name max-w-1/2">{showHidden(name)}</span>
      <span className="min-w-0 grow truncate text-muted">{showHidden(task)}</span>
      <span className="row-meta">
        {item.failures > 0 && <Failures count={item.failures} />}
        {item.calls > 0 && plural(item.calls, 'call')}
        {item.durationMs >= 100 && <span>{formatDuration(item.durationMs)}</span>}
      </span>
    </Fold>
  );
}

/** Events that readers rarely need. */
export function Quiet({ item, isOpen, onToggle }: Props<QuietItem>) {
  const [first] = item.entries;
  if (item.entries.length === 1 && first) {
    return (
      <Fold isOpen={isOpen} onToggle={onToggle} muted>
        <span className="truncate text-12">{showHidden(aboutEntry(first))}</span>
      </Fold>
    );
  }
  return (
    <Fold isOpen={isOpen} onToggle={onToggle} muted>
      <span className="truncate text-12">{countKinds(item.entries)}</span>
    </Fold>
  );
}

function countKinds(entries: readonly Entry[]): string {
  const context = entries.filter(({ eventType }) => eventType === 'context.message').length;
  const facts = entries.filter(({ kind }) => kind === 'meta').length;
  const notices = entries.filter(({ eventType }) => eventType === 'notice').length;
  const records = entries.length - context - facts - notices;
  const words = [
    context > 0 && plural(context, 'context message'),
    records > 0 && plural(records, 'record'),
    notices > 0 && plural(notices, 'notice'),
    facts > 0 && plural(facts, 'fact'),
  ];
  return words.filter(Boolean).join(', ');
}

export function RecordLine({ entry }: { entry: Entry }) {
  const preview = entry.kind === 'quiet' ? entry.preview : entry.kind === 'meta' ? factsOf(entry.facts) : '';
  return (
    <p className="flex h-7 items-center gap-3 text-12">
      <span className="whitespace-nowrap font-mono">{showHidden(aboutEntry(entry))}</span>
      <span className="min-w-0 truncate text-muted">{showHidden(preview)}</span>
    </p>
  );
}

function aboutEntry(entry: Entry): string {
  if (entry.kind === 'part') return `${entry.eventType} · part ${entry.part} of ${entry.of}`;
  return entry.kind === 'quiet' ? entry.about : entry.eventType;
}

const factsOf = (facts: Readonly<Record<string, string>>) =>
  Object.entries(facts)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

export const Failures = ({ count }: { count: number }) =>
  count > 0 ? <span className="whitespace-nowrap font-medium text-bad">{count} failed</span> : null;

const Took = ({ durationMs }: { durationMs: number }) =>
  durationMs >= 100 ? <span className="row-meta">{formatDuration(durationMs)}</span> : null;
