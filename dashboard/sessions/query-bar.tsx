import { Search, X } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { parseQuery } from '../../contract/query.ts';
import type { Filter } from '../../contract/written-query.ts';
import { showHidden } from '../kit/text/controls.ts';
import { useKeys } from '../kit/use-keys.ts';
import { FilterMenu } from './filter-menu.tsx';
import { type KnownValues, type Suggestion, suggest } from './suggestions.ts';
import { useQueryText } from './use-query-text.ts';

interface Props {
  q: string;
  /** `isTyping`: more changes may follow at once. */
  onChange: (q: string, isTyping: boolean) => void;
  known: KnownValues;
  /** Problems that only the service finds. */
  foundProblems: readonly string[];
  /** The person is about to type or to choose a known value. */
  onEnter: () => void;
  /** Moves the focus to the list. */
  onLeave: () => void;
  children?: ReactNode;
}

/**
 * The field for the query: filters become chips, the rest are words. `f` and `/` focus it.
 *
 * The palette is no substitute: there, a line is always selected, and Enter runs it. Here, no suggestion is selected until
 * an arrow key is pressed, because Enter searches for the words.
 */
export function QueryBar({ q, onChange, known, foundProblems, onEnter, onLeave, children }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  const bar = useQueryText(q, onChange);
  const { text, filters } = bar;
  const [isOpen, setIsOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const suggestions = isOpen ? suggest(text, known) : [];
  const chosen = suggestions[at];
  const { problems } = parseQuery(bar.query);
  useKeys([
    ['f', () => input.current?.focus()],
    ['/', () => input.current?.focus()],
  ]);

  const finish = () => {
    setIsOpen(false);
    bar.finish();
  };
  const take = (suggestion: Suggestion) => {
    setAt(-1);
    bar.take(suggestion);
  };
  const remove = (filter: Filter) => {
    bar.toggle(filter);
    input.current?.focus();
  };

  const keys = new Map<string, () => unknown>([
    ['ArrowDown', () => (suggestions.length > 0 ? setAt(Math.min(at + 1, suggestions.length - 1)) : onLeave())],
    ['ArrowUp', () => setAt(Math.max(at - 1, -1))],
    ['Enter', () => (chosen ? take(chosen) : finish())],
    ['Escape', () => (suggestions.length > 0 ? setIsOpen(false) : onLeave())],
  ]);
  const last = filters.at(-1);
  if (chosen) keys.set('Tab', () => take(chosen));
  if (text === '' && last) keys.set('Backspace', () => remove(last));
  const onKey = (event: KeyboardEvent) => {
    const run = event.nativeEvent.isComposing ? undefined : keys.get(event.key);
    if (!run) return;
    event.preventDefault();
    run();
  };

  return (
    <search
      className="relative block max-w-[2280px]"
      onBlur={(event) => event.currentTarget.contains(event.relatedTarget) || finish()}
    >
      {/* A query with many filters leaves room for the results. */}
      <div className="flex max-h-[30vh] min-h-[38px] flex-wrap items-center gap-x-1.5 gap-y-1 overflow-y-auto rounded-md border border-line-strong bg-surface py-1 pr-1 pl-2.5 has-[input:focus-visible]:outline-2 has-[input:focus-visible]:-outline-offset-1 has-[input:focus-visible]:outline-accent">
        <Search size={16} aria-hidden className="flex-none text-muted" />
        {filters.map((filter) => (
          <Chip key={`${filter.field}:${filter.value}`} filter={filter} known={known} onRemove={() => remove(filter)} />
        ))}
        <input
          ref={input}
          className="h-7 min-w-30 flex-[1_1_160px] bg-transparent text-14 outline-none placeholder:text-muted"
          role="combobox"
          aria-label="Find sessions"
          aria-expanded={suggestions.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-describedby={`${listId}-problems`}
          aria-activedescendant={chosen && `${listId}-${at}`}
          autoComplete="off"
          spellCheck={false}
          maxLength={500}
          placeholder={filters.length === 0 ? 'Words, or agent: repo: file: …' : ''}
          value={text}
          onChange={({ target }) => {
            setIsOpen(true);
            setAt(-1);
            bar.type(target.value);
          }}
          onFocus={() => {
            setIsOpen(true);
            onEnter();
          }}
          onKeyDown={onKey}
        />
        {(filters.length > 0 || text !== '') && (
          <button
            type="button"
            className={REMOVES}
            aria-label="Clear the query"
            onClick={() => {
              bar.clear();
              input.current?.focus();
            }}
          >
            <X size={14} />
          </button>
        )}
        <FilterMenu known={known} chosen={filters} onOpen={onEnter} onToggle={bar.toggle} />
        {children}
      </div>
      <p id={`${listId}-problems`} role="status" className="px-2.5 pt-1 text-12/5 text-warn empty:hidden">
        {[...new Set([...problems, ...foundProblems])].map(showHidden).join(' ')}
      </p>
      <Suggestions id={listId} suggestions={suggestions} at={at} onTake={take} />
    </search>
  );
}

/** A button that removes a filter, or all of them. */
const REMOVES =
  'inline-flex h-7 w-6 flex-none cursor-pointer items-center justify-center rounded-sm text-muted hover:bg-hover hover:text-text';

interface SuggestionsProps {
  id: string;
  suggestions: readonly Suggestion[];
  at: number;
  onTake: (suggestion: Suggestion) => void;
}

const Suggestions = ({ id, suggestions, at, onTake }: SuggestionsProps) => (
  <div
    role="listbox"
    id={id}
    aria-label="Suggestions"
    className="menu absolute top-[calc(100%+4px)] left-0 max-h-[60vh] w-[min(460px,100%)] overflow-y-auto"
    hidden={suggestions.length === 0}
  >
    {suggestions.map((suggestion, index) => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the field keeps the focus and takes the keys
      <div
        key={suggestion.value ?? suggestion.field}
        role="option"
        id={`${id}-${index}`}
        aria-selected={index === at}
        data-highlighted={index === at || undefined}
        className="menu-item justify-between hover:bg-hover"
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => onTake(suggestion)}
      >
        <span>{showHidden(suggestion.label)}</span>
        <span className="truncate text-12 text-muted">{showHidden(suggestion.hint ?? '')}</span>
      </div>
    ))}
  </div>
);

interface ChipProps {
  filter: Filter;
  known: KnownValues;
  onRemove: () => void;
}

function Chip({ filter: { field, value }, known, onRemove }: ChipProps) {
  const label = known[field]?.find((each) => each.value === value)?.label ?? value;
  return (
    <span className="inline-flex h-7 min-w-0 max-w-full items-center gap-1.5 rounded-sm bg-selected pl-2 text-12/5">
      <span className="text-muted">{field}</span>
      <span className="truncate font-medium">{showHidden(label)}</span>
      <button
        type="button"
        className={REMOVES}
        aria-label={`Remove the filter ${field} ${showHidden(label)}`}
        onClick={onRemove}
      >
        <X size={12} />
      </button>
    </span>
  );
}
