import { Bot } from 'lucide-react';
import type { Entry } from '../../../contract/entry/entry.ts';
import { showHidden } from '../../text/controls.ts';
import type { GroupItem, LaneItem, QuietItem } from '../../timeline/items.ts';
import { formatDuration, plural } from '../../ui/format.ts';
import { Fold } from './fold.tsx';

interface Props<Item> {
  item: Item;
  isOpen: boolean;
  onToggle: () => void;
}

/** Several tool calls in a row. */
export function Group({ item, isOpen, onToggle }: Props<GroupItem>) {
  return (
    <Fold isOpen={isOpen} onToggle={onToggle}>
      <span className="whitespace-nowrap">{plural(item.calls, 'tool call')}</span>
      <Failures count={item.failures} />
      <span className="min-w-0 truncate text-muted">{namesIn(item)}</span>
      <Took durationMs={item.durationMs} />
    </Fold>
  );
}

/** `Read 4, Bash 2`, the most frequent first. */
function namesIn({ children }: GroupItem): string {
  const counts = new Map<string, number>();
  for (const child of children) if (child.kind === 'tool') counts.set(child.name, (counts.get(child.name) ?? 0) + 1);
  const names = [...counts].sort((a, b) => b[1] - a[1]);
  return names.map(([name, count]) => (count > 1 ? `${showHidden(name)} ×${count}` : showHidden(name))).join(', ');
}

/** A sub-agent: who, what for, how it went. */
export function Lane({ item, isOpen, onToggle }: Props<LaneItem>) {
  const described = item.about.find(({ description, agentType }) => description || agentType);
  const about = [described?.agentType, described?.description].filter(Boolean).join(' · ');
  const content = (
    <>
      <Bot size={14} aria-hidden className="flex-none text-muted" />
      <span className="whitespace-nowrap">sub-agent</span>
      <span className="min-w-0 truncate text-muted">{showHidden(about || (item.anchored ? '' : item.lane))}</span>
      {item.calls > 0 && <span className="whitespace-nowrap text-muted">{plural(item.calls, 'tool call')}</span>}
      <Failures count={item.failures} />
      <Took durationMs={item.durationMs} />
    </>
  );
  if (item.items.length === 0) return <p className="fold">{content}</p>;
  return (
    <Fold isOpen={isOpen} onToggle={onToggle}>
      {content}
    </Fold>
  );
}

/** What is rarely asked for. */
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

export const Took = ({ durationMs }: { durationMs: number | undefined }) =>
  durationMs !== undefined && durationMs >= 100 ? (
    <span className="ml-auto whitespace-nowrap pl-2 text-12 text-muted">{formatDuration(durationMs)}</span>
  ) : null;
