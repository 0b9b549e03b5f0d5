import { useEffect, useRef, useState } from 'react';
import type { Filter } from '../../contract/written-query.ts';
import { readBar, settledText, splitTyped, takeFilters, writeBar } from './bar.ts';
import { type Suggestion, withField } from './suggestions.ts';

/** The search starts after a pause of this length in typing, in milliseconds: longer than between two quick keys. */
const PAUSE = 120;

/** A query while it is typed: its filters, and the text that is not one yet. `onChange` gets each query to search for. */
export function useQueryText(q: string, onChange: (q: string, isTyping: boolean) => void) {
  const [text, setText] = useState(() => readBar(q).text);
  const sent = useRef(q);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { filters, text: words } = readBar(q);

  useEffect(() => {
    // Changed from elsewhere: by a link, a saved view, the way back.
    if (q !== sent.current) setText(readBar(q).text);
    sent.current = q;
  }, [q]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const send = (bar: { filters: readonly Filter[]; text: string }, isTyping = false) => {
    clearTimeout(timer.current);
    const next = writeBar(bar);
    if (next === sent.current) return;
    sent.current = next;
    onChange(next, isTyping);
  };

  return {
    text,
    filters,
    /** What is to be understood: a link may hold a query that nobody types. While a person types, their text is newer. */
    query: text === words ? q : settledText(text),
    type(typed: string) {
      const bar = takeFilters({ filters, text: typed }, false);
      setText(bar.text);
      if (bar.filters.length > filters.length) return send({ ...bar, text: settledText(bar.text) });
      clearTimeout(timer.current);
      timer.current = setTimeout(() => send({ filters, text: settledText(typed) }, true), PAUSE);
    },
    finish(): void {
      const bar = takeFilters({ filters, text }, true);
      setText(bar.text);
      send(bar);
    },
    take({ field, value }: Suggestion) {
      if (value === undefined) return setText(withField(text, field));
      const { head } = splitTyped(text);
      setText(head);
      send({ filters: [...filters, { field, value }], text: head });
    },
    toggle(filter: Filter): void {
      const rest = filters.filter(({ field, value }) => field !== filter.field || value !== filter.value);
      send({ filters: rest.length < filters.length ? rest : [...filters, filter], text });
    },
    clear(): void {
      setText('');
      send({ filters: [], text: '' });
    },
  };
}
