import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { parseWords } from '../../contract/query.ts';
import { Button } from '../kit/button.tsx';
import { formatCount } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { useReading } from './reading.ts';
import { useFind } from './use-find.ts';

interface Props {
  sessionId: string;
  /** The search that a link opened: its words, and the event of the match. */
  linked: { words: string; sequence: number | undefined };
  /** The number of loaded events. */
  loaded: number;
  /** The timeline shows records. */
  hasRecords: boolean;
  onMatch: (sequence: number) => void;
  onShowRecords: () => void;
  onClose: () => void;
}

/** Finds words in all events, including folded ones and long outputs. The browser's own search only covers rendered rows. */
export function FindBar({ sessionId, linked, loaded, hasRecords, onMatch, onShowRecords, onClose }: Props) {
  const [words, setWords] = useState(linked.words);
  const [chosen, setChosen] = useState<number>();
  const input = useRef<HTMLInputElement>(null);
  const reading = useReading();
  const { hits: all, isSearching, error } = useFind(sessionId, words);
  const hits = useMemo(
    () => (hasRecords ? all : all.filter(({ eventType }) => !isRecord(eventType))),
    [all, hasRecords],
  );
  const at = chosen ?? (words === linked.words ? hits.findIndex(({ sequence }) => sequence === linked.sequence) : -1);
  const hit = hits[at];
  // If a link opened the bar, its event keeps the focus. If the reader opened it, the field gets the focus.
  const isAsked = useRef(linked.words === '');
  useEffect(() => {
    if (isAsked.current) input.current?.focus();
  }, []);
  useEffect(() => {
    reading.words.set(words.trim());
    return () => reading.words.set('');
  }, [reading, words]);

  useEffect(() => {
    reading.hits.set(new Set(all.map(({ sequence }) => sequence)));
    return () => reading.hits.set(new Set());
  }, [reading, all]);

  // A link with words but no event leads to the first match, unless the reader has moved on before it was found.
  const isLed = useRef(false);
  const begun = useRef(linked.sequence);
  const led = words === linked.words && (linked.sequence === undefined ? hits[0] : hit)?.sequence;
  useEffect(() => {
    if (linked.sequence !== begun.current) isLed.current = true;
    if (isLed.current || !led || loaded < led) return;
    isLed.current = true;
    onMatch(led);
  }, [linked.sequence, led, loaded, onMatch]);

  const go = (index: number) => {
    if (hits.length === 0) return;
    const next = (index + hits.length) % hits.length;
    setChosen(next);
    onMatch(hits[next]?.sequence ?? 1);
  };
  return (
    <search className="border-b border-line px-3 py-1.5">
      <div className="flex items-center gap-1.5">
        <input
          ref={input}
          className="field"
          aria-label="Find in the session"
          placeholder="Find in the session"
          value={words}
          onChange={(event) => {
            setWords(event.target.value);
            setChosen(undefined);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') go(at + (event.shiftKey ? -1 : 1));
            if (event.key === 'Escape') onClose();
          }}
        />
        <span className="num whitespace-nowrap text-12 text-muted" aria-live="polite">
          {words.trim() !== '' && `${at >= 0 && hit ? `${formatCount(at + 1)} of ` : ''}${formatCount(hits.length)}`}
          {isSearching && ' so far'}
        </span>
        {hits.length < all.length && (
          <button type="button" className="link num whitespace-nowrap text-12" onClick={onShowRecords}>
            {formatCount(all.length - hits.length)} more in records
          </button>
        )}
        <Button tone="quiet" size="small" icon aria-label="Previous match" onClick={() => go(at - 1)}>
          <ChevronUp size={14} />
        </Button>
        <Button tone="quiet" size="small" icon aria-label="Next match" onClick={() => go(at + 1)}>
          <ChevronDown size={14} />
        </Button>
        <Button tone="quiet" size="small" icon aria-label="Close the search" onClick={onClose}>
          <X size={14} />
        </Button>
      </div>
      <p role="status" className="px-2.5 pt-1 text-12/5 text-warn empty:hidden">
        {showHidden(parseWords(words).problems.join(' '))}
      </p>
      {hit && <Context text={hit.text} marks={hit.marks} />}
      {error !== undefined && <ErrorNote error={error} />}
    </search>
  );
}

/** Events that have rows by default. The rows of all others are hidden at first. */
const READ = /^(?:user\.message|assistant\.|tool\.|compaction$|error$|subagent\.|turn\.|notice$)/;
const isRecord = (eventType: string): boolean => !READ.test(eventType);

/** The text around the match, which may be far down in a long output. */
function Context({ text, marks }: { text: string; marks: readonly (readonly [number, number])[] }) {
  let end = 0;
  return (
    <p className="font-mono truncate pt-1 text-muted">
      {marks.map(([from, to]) => {
        const before = text.slice(end, from);
        end = to;
        return (
          <span key={from}>
            {showHidden(before)}
            <mark>{showHidden(text.slice(from, to))}</mark>
          </span>
        );
      })}
      {showHidden(text.slice(end))}
    </p>
  );
}
