import { useEffect, useRef, useState } from 'react';
import type { Filter } from '../../contract/written-query.ts';
import { readBar, settledText, splitTyped, takeFilters, writeBar } from './bar.ts';
import { type Suggestion, withField } from './suggestions.ts';

/** The search starts after a pause in typing, in milliseconds. The pause is longer than between two quick keys. */
const PAUSE = 120;

/** A query during typing: its filters, and the text after them. `onChange` gets each query to search for. */
export function useQueryText(q: string, onChange: (q: string, isTyping: boolean) => void) {
  const [text, setText] = useState(() => readBar(q).text);
  const sent = useRef(q);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { filters, text: words } = readBar(q);

  useEffect(() => {
    // The query was changed from elsewhere: by a link, by a saved view or by going back.
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
    /** The query to check for problems: the one of the address, or the typed text, which is newer while the person types. */
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
