import { memo, useEffect, useRef } from 'react';
import { showHidden } from '../../text/controls.ts';
import type { PromptEntry } from '../../timeline/entry.ts';
import { firstLine } from '../../timeline/value.ts';

interface Props {
  prompts: readonly PromptEntry[];
  /** The event at the top of the timeline. */
  at: number;
  onSelect: (sequence: number) => void;
}

/** The prompts of the conversation; the one that is being read stands out. */
export const Outline = memo(function Outline({ prompts, at, onSelect }: Props) {
  const current = prompts.findLast(({ sequence }) => sequence <= at) ?? prompts[0];
  const list = useRef<HTMLOListElement>(null);
  const sequence = current?.sequence;
  useEffect(() => {
    if (sequence === undefined) return;
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [sequence]);
  return (
    <nav aria-label="Prompts" className="prompts">
      <h2 className="px-2 pb-1 text-12 text-muted">Prompts</h2>
      {prompts.length === 0 && <p className="px-2 text-12 text-muted">None so far</p>}
      <ol ref={list}>
        {prompts.map((prompt, index) => (
          <li key={prompt.sequence}>
            <button
              type="button"
              className="outline-prompt"
              aria-current={prompt === current ? 'location' : undefined}
              onClick={() => onSelect(prompt.sequence)}
            >
              <span className="outline-number">{index + 1}</span>
              <span className="line-clamp-2 min-w-0">
                {showHidden(firstLine(prompt.text)) || (prompt.images > 0 ? 'Image' : 'No text')}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
});
