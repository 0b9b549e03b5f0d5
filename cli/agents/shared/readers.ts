import type { CapturedType } from '../../../transcript/vocabulary.ts';
import { type Draft, type Fields, fieldsOf, fits, type Readers } from './events.ts';
import { type Part, peek, peekWords, take } from './part.ts';

/** The same reader for several kinds. */
export const readersOf = <Read>(kinds: readonly string[], reader: (kind: string) => Read): Readers<Read> =>
  Object.fromEntries(kinds.map((kind) => [kind, reader(kind)]));

/** Where in a part the fields of an event are: keys with dots between them. Of several places, the first that fits counts. */
export type Places<Name extends CapturedType> = { readonly [Field in keyof Fields<Name>]?: string | readonly string[] };

/** Values for fields of an event that the record lacks. */
type Given<Name extends CapturedType> = { [Field in keyof Fields<Name>]?: Fields<Name>[Field] | undefined };

/**
 * Makes a reader of one event. It takes the value that fits each field, and uses the given value if there is none. If a
 * required field has neither, the reader takes nothing and returns no event.
 */
export function fields<Name extends CapturedType>(eventType: Name, places: Places<Name>) {
  const named = places as { readonly [field: string]: string | readonly string[] };
  const columns = fieldsOf(eventType).map((field) => ({ ...field, at: [named[field.name] ?? []].flat() }));
  const needed = columns.filter(({ isRequired }) => isRequired);
  return (part: Part, given: Given<Name> = {}): Draft[] => {
    const givens: Draft['fields'] = given;
    for (const { name, schema, at } of needed) {
      if (givens[name] === undefined && !at.some((where) => fits(schema, peek(part, where)))) return [];
    }
    const found: Draft['fields'] = {};
    for (const { name, schema, at } of columns) {
      const where = at.find((where) => fits(schema, peek(part, where)));
      const value = where === undefined ? givens[name] : take(part, where);
      if (value !== undefined) found[name] = value;
    }
    return [{ eventType, fields: found }];
  };
}

/** Makes a reader of records with one event. */
export function event<Name extends CapturedType>(
  eventType: Name,
  places: Places<Name>,
  given: Given<Name> = {},
): (part: Part) => Draft[] {
  const read = fields(eventType, places);
  return (part) => read(part, given);
}

/** Makes a reader of a text and its kind. The kind is at the first of some paths and stays there. */
export function eventOfKind(
  eventType: 'error' | 'notice' | 'context.message',
  text: string | readonly string[],
  kindAt: readonly string[],
  otherwise: string,
): (part: Part) => Draft[] {
  const read = fields(eventType, { text });
  return (part) => read(part, { kind: peekWords(part, ...kindAt) ?? otherwise });
}

/** Makes a reader of token counts. `cached` says how the agent counts them. No count makes no event. */
export function usage(places: Places<'usage'>, cached?: Fields<'usage'>['cached']) {
  const read = fields('usage', places);
  const counts = Object.entries(places).flatMap(([name, at]) => (name.endsWith('Tokens') ? [at].flat() : []));
  return (part: Part, given: Given<'usage'> = {}): Draft[] =>
    counts.some((where) => Number.isInteger(peek(part, where))) ? read(part, { cached, ...given }) : [];
}

/** Facts of the session. A changed value without a field in the vocabulary stays in `rest`. */
export const facts = (places: Places<'session.meta'>, titleBy?: 'person' | 'agent') =>
  event('session.meta', places, { titleBy });

/** A notice: the first text was shown to the person. */
export const notice = (kind: string, ...text: string[]) => event('notice', { text }, { kind });

/** Context: the first of the texts was sent to the model. */
export const context = (kind: string, ...text: string[]) => event('context.message', { text }, { kind });

/** A known kind that no reader of the session needs, or that repeats another record. */
export const quiet = (kind: string) => event('record', {}, { kind });
