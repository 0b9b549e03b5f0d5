import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { findText, type Match } from '../../timeline/find.ts';
import type { Item } from '../../timeline/items.ts';
import { Button } from '../../ui/button.tsx';

interface Props {
  items: readonly Item[];
  isComplete: boolean;
  onMatch: (match: Match) => void;
  onClose: () => void;
}

/** Finds words in all loaded events, folded ones too: the browser's own search sees only what is drawn. */
export function FindBar({ items, isComplete, onMatch, onClose }: Props) {
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const searched = useDeferredValue(words);
  const matches = useMemo(() => findText(items, searched), [items, searched]);
  useEffect(() => input.current?.focus(), []);

  const go = (index: number) => {
    const match = matches[(index + matches.length) % matches.length];
    if (!match) return;
    setAt(matches.indexOf(match));
    onMatch(match);
  };
  return (
    <search className="find-bar">
      <input
        ref={input}
        className="field"
        aria-label="Find in the session"
        placeholder="Find in the session"
        value={words}
        onChange={(event) => {
          setWords(event.target.value);
          setAt(-1);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') go(at + (event.shiftKey ? -1 : 1));
          if (event.key === 'Escape') onClose();
        }}
      />
      <span className="whitespace-nowrap text-12 text-muted" aria-live="polite">
        {searched.trim() !== '' && `${at >= 0 && matches.length > 0 ? `${at + 1} of ` : ''}${matches.length}`}
        {searched.trim() !== '' && !isComplete && ' so far'}
      </span>
      <Button tone="quiet" size="small" icon aria-label="Previous match" onClick={() => go(at - 1)}>
        <ChevronUp size={14} />
      </Button>
      <Button tone="quiet" size="small" icon aria-label="Next match" onClick={() => go(at + 1)}>
        <ChevronDown size={14} />
      </Button>
      <Button tone="quiet" size="small" icon aria-label="Close the search" onClick={onClose}>
        <X size={14} />
      </Button>
    </search>
  );
}
