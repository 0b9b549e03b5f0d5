import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useCallback, useEffect, useRef } from 'react';
import type { PromptEntry } from '../../../contract/entry/entry.ts';
import { orderOf } from '../../../contract/entry/revisions.ts';
import { firstLine } from '../../../contract/entry/value.ts';
import { showHidden } from '../../text/controls.ts';

interface Props {
  prompts: readonly PromptEntry[];
  /** The order of the event at the top of the timeline. */
  at: number;
  onSelect: (sequence: number) => void;
}

/** The prompts of the conversation, thousands of them too; the one that is being read stands out, and is in sight. */
export const Outline = memo(function Outline({ prompts, at, onSelect }: Props) {
  const current = Math.max(
    0,
    prompts.findLastIndex((prompt) => orderOf(prompt) <= at),
  );
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLLIElement>({
    count: prompts.length,
    getScrollElement: () => scroller.current,
    getItemKey: useCallback((index: number) => prompts[index]?.sequence ?? index, [prompts]),
    estimateSize: () => 28,
    overscan: 8,
    paddingEnd: 12,
  });
  useEffect(() => {
    virtualizer.scrollToIndex(current, { align: 'auto' });
  }, [current, virtualizer]);
  return (
    <nav aria-label="Prompts" className="prompts">
      <h2 className="px-4 pb-1 text-12 text-muted">Prompts</h2>
      {prompts.length === 0 && <p className="px-4 text-12 text-muted">None so far</p>}
      <div ref={scroller} className="outline-scroll">
        <ol className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ key, index, start }) => {
            const prompt = prompts[index];
            if (!prompt) return null;
            return (
              <li
                key={key}
                ref={virtualizer.measureElement}
                aria-setsize={prompts.length}
                aria-posinset={index + 1}
                data-index={index}
                className="outline-row"
                style={{ transform: `translateY(${start}px)` }}
              >
                <button
                  type="button"
                  className="outline-prompt"
                  aria-current={index === current ? 'location' : undefined}
                  onClick={() => onSelect(prompt.sequence)}
                >
                  <span className="outline-number">{index + 1}</span>
                  <span className="line-clamp-2 min-w-0">
                    {showHidden(firstLine(prompt.text)) || (prompt.images > 0 ? 'Image' : 'No text')}
                  </span>
                </button>
              </li>
            );
          })}
        </ol>
      </div>
    </nav>
  );
});
