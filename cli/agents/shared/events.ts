import {
  type CapturedEvent,
  type CapturedType,
  type Source,
  VOCABULARY,
  type Vocabulary,
} from '../../../contract/transcript.ts';
import type { Agent, RecordPlace } from '../agent.ts';
import { type Part, peek, peekText, restOf, take } from './part.ts';

/** An event before it is told where it comes from. */
export interface Draft {
  eventType: CapturedType;
  fields: { [field: string]: unknown };
}

export type Reader = (record: Part, place: RecordPlace) => Draft[];

/** Readers by the agent's word for what they read. */
export interface Readers<Read = Reader> {
  readonly [kind: string]: Read;
}

/** Agents may use words that are names of every object's, such as `constructor`. */
export const readerOf = <Read>(readers: Readers<Read>, kind: string): Read | undefined =>
  Object.hasOwn(readers, kind) ? readers[kind] : undefined;

/** The same reader for several kinds. */
export const readersOf = <Read>(kinds: readonly string[], reader: (kind: string) => Read): Readers<Read> =>
  Object.fromEntries(kinds.map((kind) => [kind, reader(kind)]));

/** What of `source` and the time a record says itself. */
export interface Envelope {
  agent: Agent['id'];
  agentVersion?: string | undefined;
  record?: string | undefined;
  parent?: string | undefined;
  /** Of a record that the agent may write again: grows with each writing. */
  revision?: number | undefined;
  occurredAt?: string | undefined;
}

type OfEnvelope = 'source' | 'occurredAt' | 'rest' | 'redactions';

/** The fields of an event type; the optional ones may be `undefined`, which says absent. */
export type Fields<Name extends CapturedType> = Lenient<Omit<Vocabulary[Name], OfEnvelope>>;

type Lenient<Shape> = {
  [Key in keyof Shape]: Record<never, never> extends Pick<Shape, Key> ? Shape[Key] | undefined : Shape[Key];
};

/** Where in a part the fields of an event are: keys with dots between them; of several places the first that fits. */
export type Places<Name extends CapturedType> = { readonly [Field in keyof Fields<Name>]?: string | readonly string[] };

export function draft<Name extends CapturedType>(eventType: Name, fields: Fields<Name>): Draft {
  const present: Draft['fields'] = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) present[key] = value;
  return { eventType, fields: present };
}

/** What a field of the vocabulary may hold. */
interface Schema {
  type?: string;
  enum?: unknown[];
}

/** Whether a value is what a field holds; fields are texts, numbers, flags, choices, or anything. */
export function fits({ type, enum: choices }: Schema, value: unknown): boolean {
  if (value === undefined) return false;
  if (choices !== undefined) return choices.includes(value);
  if (type === undefined) return true;
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

const OF_ENVELOPE = new Set(['source', 'occurredAt', 'rest', 'redactions']);

/** The fields of an event type beside those that every payload has, in their order. */
export function fieldsOf(eventType: CapturedType): { name: string; schema: Schema; isRequired: boolean }[] {
  const { properties, required = [] } = VOCABULARY[eventType] as { properties: object; required?: string[] };
  const fields = Object.entries(properties as { [name: string]: Schema });
  return fields
    .filter(([name]) => !OF_ENVELOPE.has(name))
    .map(([name, schema]) => ({ name, schema, isRequired: required.includes(name) }));
}

/**
 * A reader of one event. It takes what fits into each field; in place of what is not there stands what is given. Where
 * both lack that the event must have, it takes nothing and gives no event.
 */
export function fields<Name extends CapturedType>(eventType: Name, places: Places<Name>) {
  const named = places as { readonly [field: string]: string | readonly string[] };
  const columns = fieldsOf(eventType).map((field) => ({ ...field, at: [named[field.name] ?? []].flat() }));
  const needed = columns.filter(({ isRequired }) => isRequired);
  return (part: Part, given: Partial<Fields<Name>> = {}): Draft[] => {
    const givens: Draft['fields'] = given;
    for (const { name, schema, at } of needed) {
      if (givens[name] === undefined && !at.some((where) => fits(schema, peek(part, where)))) return [];
    }
    const found: Draft['fields'] = {};
    for (const { name, schema, at } of columns) {
      let value = givens[name];
      for (const where of at) {
        if (!fits(schema, peek(part, where))) continue;
        value = take(part, where);
        break;
      }
      if (value !== undefined) found[name] = value;
    }
    return [{ eventType, fields: found }];
  };
}

/** A reader of records that are one event. */
export function event<Name extends CapturedType>(
  eventType: Name,
  places: Places<Name>,
  given: Partial<Fields<Name>> = {},
): (part: Part) => Draft[] {
  const read = fields(eventType, places);
  return (part) => read(part, given);
}

/** A reader of token counts, `cached` or not as the agent counts them; no event where there is no count. */
export function usage(places: Places<'usage'>, cached: Fields<'usage'>['cached']) {
  const read = fields('usage', places);
  const counts = Object.entries(places).flatMap(([name, at]) => (name.endsWith('Tokens') ? [at].flat() : []));
  return (part: Part, given: Partial<Fields<'usage'>> = {}): Draft[] =>
    counts.some((where) => Number.isInteger(peek(part, where))) ? read(part, { ...given, cached }) : [];
}

/** Facts of the session. A record that changes what has no word in the vocabulary keeps it in `rest`. */
export const facts = (places: Places<'session.meta'>, titleBy?: 'person' | 'agent') =>
  event('session.meta', places, { titleBy });

/** The first of the texts is what the person is told. */
export const notice = (kind: string, ...text: string[]) => event('notice', { text }, { kind });

/** The first of the texts was put before the model. */
export const context = (kind: string, ...text: string[]) => event('context.message', { text }, { kind });

/** A known kind that says nothing a reader of the session asks for, or what another record says. */
export const quiet = (kind: string) => event('record', {}, { kind });

/** Puts what a record says once into each of its events that has such a field; where none has, it stays in the record. */
export function shareText(record: Part, drafts: readonly Draft[], places: { readonly [field: string]: string }): void {
  const said = Object.entries(places).map(([field, where]) => ({ field, where, text: peekText(record, where) }));
  for (const { field, where, text } of said) {
    if (text === undefined) continue;
    const telling = drafts.filter(({ eventType, fields }) => mayHave(eventType, field) && fields[field] === undefined);
    for (const draft of telling) draft.fields = inOrder(draft.eventType, { ...draft.fields, [field]: text });
    if (telling.length > 0) take(record, where);
  }
}

const mayHave = (eventType: CapturedType, field: string) => Object.hasOwn(VOCABULARY[eventType].properties, field);

const inOrder = (eventType: CapturedType, fields: Draft['fields']): Draft['fields'] =>
  Object.fromEntries(fieldsOf(eventType).flatMap(({ name }) => (name in fields ? [[name, fields[name]]] : [])));

/**
 * The events of a record; where no reader made one, a `record` of this kind. The first one carries what was not taken.
 */
export function compose(
  record: Part,
  place: RecordPlace,
  envelope: Envelope,
  drafts: readonly Draft[],
  kind?: string,
): CapturedEvent[] {
  const { agent, agentVersion = place.origin.agentVersion, record: id, parent, revision, occurredAt } = envelope;
  const rest = restOf(record);
  const { session, subagent } = place.origin;
  const all = drafts.length > 0 ? drafts : [draft('record', { kind })];
  return all.map(({ eventType, fields }, index) => {
    const source: Source = {
      agent,
      ...(agentVersion !== undefined && { agentVersion }),
      session,
      ...(id !== undefined && { record: id }),
      ...(parent !== undefined && { parent }),
      ...(subagent !== undefined && { subagent }),
      file: place.file,
      position: place.position,
      ...(all.length > 1 && { index }),
      ...(revision !== undefined && { revision }),
    };
    const payload = {
      source,
      ...(occurredAt !== undefined && { occurredAt }),
      ...fields,
      ...(index === 0 && rest !== undefined && { rest }),
    };
    return { eventType, payload } as CapturedEvent;
  });
}
