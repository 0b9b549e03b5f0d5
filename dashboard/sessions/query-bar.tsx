import { Search, X } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { type Filter, parseQuery } from '../../contract/query.ts';
import { showHidden } from '../kit/text/controls.ts';
import { useKeys } from '../kit/use-keys.ts';
import { readBar, settledText, splitTyped, takeFilters, writeBar } from './bar.ts';
import { FilterMenu } from './filter-menu.tsx';
import { type KnownValues, type Suggestion, suggest, withField } from './suggestions.ts';

interface Props {
  q: string;
  /** `isTyping`: more of it may follow at once. */
  onChange: (q: string, isTyping: boolean) => void;
  known: KnownValues;
  /** Somebody is about to type, or to choose among what is known. */
  onEnter: () => void;
  /** Goes on to the list. */
  onLeave: () => void;
  children?: ReactNode;
}

/** The search starts after a pause of this length in typing, in milliseconds: longer than between two quick keys. */
const PAUSE = 120;

/** The query as it is typed: filters become chips, the rest are words. `f` and `/` lead here. */
export function QueryBar({ q, onChange, known, onEnter, onLeave, children }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  const [text, setText] = useState(() => readBar(q).text);
  const [isOpen, setIsOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const sent = useRef(q);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { filters, text: words } = readBar(q);
  const suggestions = isOpen ? suggest(text, known) : [];
  // A link may hold a query that nobody types. While a person types, the text of the bar is newer.
  const { problems } = parseQuery(text === words ? q : settledText(text));

  useEffect(() => {
    // Changed from elsewhere: by a link, a saved view, the way back.
    if (q !== sent.current) setText(readBar(q).text);
    sent.current = q;
  }, [q]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useKeys([
    ['f', () => input.current?.focus()],
    ['/', () => input.current?.focus()],
  ]);

  const send = (bar: { filters: readonly Filter[]; text: string }, isTyping = false) => {
    clearTimeout(timer.current);
    const next = writeBar(bar);
    if (next === sent.current) return;
    sent.current = next;
    onChange(next, isTyping);
  };
  const type = (typed: string) => {
    setIsOpen(true);
    setAt(-1);
    const bar = takeFilters({ filters, text: typed }, false);
    setText(bar.text);
    if (bar.filters.length > filters.length) return send({ ...bar, text: settledText(bar.text) });
    clearTimeout(timer.current);
    timer.current = setTimeout(() => send({ filters, text: settledText(typed) }, true), PAUSE);
  };
  const finish = () => {
    const bar = takeFilters({ filters, text }, true);
    setText(bar.text);
    setIsOpen(false);
    send(bar);
  };
  const take = ({ field, value }: Suggestion) => {
    setAt(-1);
    if (value === undefined) return setText(withField(text, field));
    const { head } = splitTyped(text);
    setText(head);
    send({ filters: [...filters, { field, value }], text: head });
  };
  const remove = (filter: Filter) => {
    send({ filters: filters.filter((each) => each !== filter), text });
    input.current?.focus();
  };
  const clear = () => {
    setText('');
    send({ filters: [], text: '' });
    input.current?.focus();
  };

  const chosen = suggestions[at];
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
    <search className="query-bar" onBlur={(event) => event.currentTarget.contains(event.relatedTarget) || finish()}>
      <div className="query-field">
        <Search size={16} aria-hidden className="flex-none text-muted" />
        {filters.map((filter) => (
          <Chip key={`${filter.field}:${filter.value}`} filter={filter} known={known} onRemove={() => remove(filter)} />
        ))}
        <input
          ref={input}
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
          onChange={({ target }) => type(target.value)}
          onFocus={() => {
            setIsOpen(true);
            onEnter();
          }}
          onKeyDown={onKey}
        />
        {(filters.length > 0 || text !== '') && (
          <button type="button" className="query-clear" aria-label="Clear the query" onClick={clear}>
            <X size={14} />
          </button>
        )}
        <FilterMenu
          known={known}
          chosen={filters}
          onOpen={onEnter}
          onToggle={(filter) => {
            const rest = filters.filter(({ field, value }) => field !== filter.field || value !== filter.value);
            send({ filters: rest.length < filters.length ? rest : [...filters, filter], text });
          }}
        />
        {children}
      </div>
      <p id={`${listId}-problems`} role="status" className="query-problems">
        {[...new Set(problems)].join(' ')}
      </p>
      <div
        role="listbox"
        id={listId}
        aria-label="Suggestions"
        className="menu query-list"
        hidden={suggestions.length === 0}
      >
        {suggestions.map((suggestion, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field keeps the focus and takes the keys
          <div
            key={suggestion.value ?? suggestion.field}
            role="option"
            id={`${listId}-${index}`}
            aria-selected={index === at}
            data-highlighted={index === at || undefined}
            className="menu-item"
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => take(suggestion)}
          >
            <span>{showHidden(suggestion.label)}</span>
            <span className="truncate text-12 text-muted">{showHidden(suggestion.hint ?? '')}</span>
          </div>
        ))}
      </div>
    </search>
  );
}

interface ChipProps {
  filter: Filter;
  known: KnownValues;
  onRemove: () => void;
}

function Chip({ filter: { field, value }, known, onRemove }: ChipProps) {
  const label = known[field]?.find((each) => each.value === value)?.label ?? value;
  return (
    <span className="query-chip">
      <span className="text-muted">{field}</span>
      <span className="truncate font-medium">{showHidden(label)}</span>
      <button type="button" aria-label={`Remove the filter ${field} ${showHidden(label)}`} onClick={onRemove}>
        <X size={12} />
      </button>
    </span>
  );
}
