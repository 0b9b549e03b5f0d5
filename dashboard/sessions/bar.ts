import { parseQuery } from '../../contract/query.ts';
import { FIELDS, type Field, type Filter, formatQuery } from '../../contract/written-query.ts';

/** A query in the query bar: its filters as chips, and the rest as text. */
export interface Bar {
  filters: readonly Filter[];
  text: string;
}

export function readBar(q: string): Bar {
  const { terms, filters } = parseQuery(q);
  return { filters, text: formatQuery({ terms, filters: [] }) };
}

export function writeBar({ filters, text }: Bar): string {
  const { terms, filters: typed } = parseQuery(text);
  return formatQuery({ terms, filters: withoutRepeated([...filters, ...typed]) });
}

/** Turns filters that were typed in full into chips. `isDone`: the person has finished typing. */
export function takeFilters({ filters, text }: Bar, isDone: boolean): Bar {
  const { head, tail } = isDone ? { head: text, tail: '' } : splitTyped(text);
  const { terms, filters: typed } = parseQuery(head);
  if (typed.length === 0) return { filters, text };
  const words = formatQuery({ terms, filters: [] });
  return {
    filters: withoutRepeated([...filters, ...typed]),
    text: words === '' ? tail : `${words} ${tail}`,
  };
}

/** The words to search for during typing, without an unfinished filter. */
export function settledText(text: string): string {
  const { head, tail } = splitTyped(text);
  return fieldOf(tail) ? head : text;
}

/** Splits off the last piece, which the person is typing. */
export function splitTyped(text: string): { head: string; tail: string } {
  let start = 0;
  let isQuoted = false;
  for (const [at, character] of [...text].entries()) {
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && /\s/.test(character)) start = at + 1;
  }
  const characters = [...text];
  return { head: characters.slice(0, start).join(''), tail: characters.slice(start).join('') };
}

/** The field of the filter that the person is typing, and its value so far. */
export function fieldOf(piece: string): { field: Field; value: string } | undefined {
  const [, name = '', value = ''] = /^([a-z]+):(.*)$/is.exec(piece) ?? [];
  const field = FIELDS.find((each) => each === name.toLowerCase());
  return field && { field, value: value.replaceAll('"', '') };
}

const withoutRepeated = (filters: readonly Filter[]): Filter[] =>
  filters.filter(
    ({ field, value }, at) => filters.findIndex((each) => each.field === field && each.value === value) === at,
  );
