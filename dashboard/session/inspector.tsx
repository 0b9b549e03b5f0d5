import { X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { SessionFacts } from '../../contract/review.ts';
import type { Entry } from '../../transcript/entry/entry.ts';
import { Boundary } from '../kit/boundary.tsx';
import { Button } from '../kit/button.tsx';
import { CopyButton } from '../kit/copy.tsx';
import { formatCount, formatExact } from '../kit/format.ts';
import { type Pair, Pairs } from '../kit/pairs.tsx';
import { Scroll } from '../kit/scroll.tsx';
import { Tabs } from '../kit/tabs.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { FactLists } from '../shared/fact-lists.tsx';
import { CallInput, CallResults } from './call-body.tsx';
import { Changes } from './changes.tsx';
import type { Timeline } from './model/build.ts';
import { entriesOf, type Item } from './model/items.ts';
import { toMarkdown } from './model/markdown.ts';
import { RawEvents } from './raw-events.tsx';
import { useReading, useValue } from './reading.ts';
import { Resizer, useInspectorWidth } from './resizer.tsx';
import type { View } from './use-view.ts';

interface Props {
  view: View;
  sessionId: string;
  timeline: Timeline;
  /** Shown while no row is selected. */
  facts: SessionFacts | undefined;
  outcome: ReactNode;
  linkOf: (sequence: number) => string;
  onClose: () => void;
}

/** The details of the current row. */
export function Inspector({ view, sessionId, timeline, facts, outcome, linkOf, onClose }: Props) {
  const { current } = useReading();
  const key = useValue(current, (each) => each?.key);
  const item = key === undefined ? undefined : view.rows[view.indexOf(key)]?.item;
  const entries = item ? entriesOf(item) : [];
  const [chosen, setChosen] = useState<string>();
  const [width, setWidth] = useInspectorWidth();
  const tabs = item ? tabsOf(item) : [];
  const tab = tabs.find((each) => each === chosen) ?? tabs[0] ?? '';
  return (
    <aside
      aria-label="Inspector"
      className="relative flex min-h-0 w-(--inspector) flex-none flex-col border-l border-line bg-surface max-[1200px]:absolute max-[1200px]:inset-y-0 max-[1200px]:right-0 max-[1200px]:z-10 max-[1200px]:w-[min(var(--inspector),100%)] max-[1200px]:shadow-float print:hidden [&_.code-block]:max-h-none [&_.code-block_pre]:whitespace-pre-wrap [&_.code-block_pre]:[overflow-wrap:anywhere]"
      style={{ '--inspector': `${width}px` } as React.CSSProperties}
    >
      <Resizer width={width} onResize={setWidth} />
      <header className="flex items-center gap-1 border-line border-b py-1.5 pr-2 pl-4">
        <h2 className="min-w-0 grow truncate text-13">
          {item ? `event ${item.sequence}` : 'Summary'}
          {item && <span className="font-normal text-muted"> · {showHidden(titleOf(item, entries))}</span>}
        </h2>
        {item && <CopyButton text={() => toMarkdown([item])} label="Copy as Markdown" />}
        {item && <CopyButton text={() => linkOf(item.sequence)} label="Copy the link to this event" />}
        <Button tone="quiet" size="small" icon aria-label="Close the inspector" onClick={onClose}>
          <X size={14} />
        </Button>
      </header>
      <Boundary of="The event" resetKey={item?.key ?? ''}>
        {!item && (
          <Scroll
            aria-label="session"
            className="flex min-h-0 grow flex-col gap-4 overflow-y-auto bg-surface p-4 text-13"
          >
            {outcome}
            {facts && <FactLists facts={facts} sessionId={sessionId} />}
            <p className="text-muted">Select a row (j / k) for details.</p>
          </Scroll>
        )}
        {item && (
          <Tabs
            fills
            label="What to show"
            tabs={tabs}
            current={tab}
            onChange={setChosen}
            before={<Facts item={item} entries={entries} timeline={timeline} />}
          >
            <Scroll
              key={`${item.key}${tab}`}
              aria-label={tab || 'event'}
              className="min-h-0 grow overflow-y-auto bg-surface p-4"
            >
              {item.kind === 'tool' && tab === 'input' && <CallInput item={item} sessionId={sessionId} />}
              {item.kind === 'tool' && tab === 'output' && <CallResults item={item} sessionId={sessionId} />}
              {item.kind === 'tool' && tab === 'diff' && <Changes item={item} sessionId={sessionId} />}
              {tab === 'raw' && <RawEvents entries={entries} sessionId={sessionId} />}
              {entries.length === 0 && <p className="text-13 text-muted">Open the row to see its events.</p>}
            </Scroll>
          </Tabs>
        )}
      </Boundary>
    </aside>
  );
}

function tabsOf(item: Item): string[] {
  if (item.kind === 'tool') {
    return [
      ...(item.changes.length > 0 ? ['diff'] : []),
      ...(item.results.length > 0 ? ['output'] : []),
      ...(item.call ? ['input'] : []),
      'raw',
    ];
  }
  return entriesOf(item).length > 0 ? ['raw'] : [];
}

function titleOf(item: Item, entries: readonly Entry[]): string {
  if (item.kind === 'tool') return item.name;
  if (item.kind === 'group') return `${item.calls} tool calls`;
  if (item.kind === 'lane') return `sub-agent ${item.lane}`;
  if (item.kind === 'quiet') return `${item.entries.length} folded events`;
  return entries[0]?.eventType ?? '';
}

function Facts({ item, entries, timeline }: { item: Item; entries: readonly Entry[]; timeline: Timeline }) {
  const message = entries[0] && 'messageId' in entries[0] ? entries[0] : undefined;
  const usage = message?.messageId ? timeline.usage.byResponse.get(message.messageId) : undefined;
  const redactions = entries.reduce((sum, entry) => sum + (entry.redactions ?? 0), 0);
  const facts: readonly Pair[] = [
    { name: 'time', value: formatExact(item.time) },
    { name: 'events', value: entries.length > 1 ? entries.map(({ sequence }) => sequence).join(', ') : undefined },
    { name: 'model', value: message?.model && showHidden(message.model) },
    { name: 'tokens', value: usage && `${formatCount(usage.input)} in · ${formatCount(usage.output)} out` },
    { name: 'cached', value: usage && usage.cacheRead > 0 ? formatCount(usage.cacheRead) : undefined },
    { name: 'sub-agent', value: entries[0]?.lane && showHidden(entries[0].lane) },
    { name: 'redacted', value: redactions > 0 ? formatCount(redactions) : undefined },
  ];
  return (
    <div className="border-b border-line px-4 py-2.5 [&_.pairs]:gap-0 [&_.pairs]:text-12/[18px]">
      <Pairs nameWidth={72} pairs={facts} />
    </div>
  );
}
