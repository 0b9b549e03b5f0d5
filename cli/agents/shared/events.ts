import {
  type CapturedEvent,
  type CapturedType,
  type Source,
  VOCABULARY,
  type Vocabulary,
} from '../../../transcript/vocabulary.ts';
import type { Agent, RecordPlace } from '../agent.ts';
import { type Part, peekWords, restOf, take } from './part.ts';

/** An event that does not have its source yet. */
export interface Draft {
  eventType: CapturedType;
  fields: { [field: string]: unknown };
}

export type Reader = (record: Part, place: RecordPlace) => Draft[];

/** Readers, by the agent's own word for a kind of record. */
export interface Readers<Read = Reader> {
  readonly [kind: string]: Read;
}

/** The check is needed because agents may use words that every object has as a member, such as `constructor`. */
export const readerOf = <Read>(readers: Readers<Read>, kind: string): Read | undefined =>
  Object.hasOwn(readers, kind) ? readers[kind] : undefined;

/** The fields of `source`, and the time, that a record itself has. */
export interface Envelope {
  agent: Agent['id'];
  agentVersion?: string | undefined;
  record?: string | undefined;
  parent?: string | undefined;
  /** For a record that the agent may write again. It grows with each writing. */
  revision?: number | undefined;
  occurredAt?: string | undefined;
}

type OfEnvelope = 'source' | 'occurredAt' | 'rest' | 'redactions';

/** The fields of an event type. Optional fields may be `undefined`, which means absent. */
export type Fields<Name extends CapturedType> = Lenient<Omit<Vocabulary[Name], OfEnvelope>>;

type Lenient<Shape> = {
  [Key in keyof Shape]: Record<never, never> extends Pick<Shape, Key> ? Shape[Key] | undefined : Shape[Key];
};

export function draft<Name extends CapturedType>(eventType: Name, fields: Fields<Name>): Draft {
  const present: Draft['fields'] = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) present[key] = value;
  return { eventType, fields: present };
}

/** The schema of a field of the vocabulary. */
interface Schema {
  type?: string;
  enum?: unknown[];
}

/** Whether a value fits a field. Fields are texts, numbers, flags, choices, or anything. */
export function fits({ type, enum: choices }: Schema, value: unknown): boolean {
  if (value === undefined) return false;
  if (choices !== undefined) return choices.includes(value);
  if (type === undefined) return true;
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

const OF_ENVELOPE = new Set(['source', 'occurredAt', 'rest', 'redactions']);

/** The fields of an event type besides those of every payload, in their order. */
export function fieldsOf(eventType: CapturedType): { name: string; schema: Schema; isRequired: boolean }[] {
  const { properties, required = [] } = VOCABULARY[eventType] as { properties: object; required?: string[] };
  const fields = Object.entries(properties as { [name: string]: Schema });
  return fields
    .filter(([name]) => !OF_ENVELOPE.has(name))
    .map(([name, schema]) => ({ name, schema, isRequired: required.includes(name) }));
}

/**
 * Copies a value that a record has once into each of its events with such a field. If no event has one, the value stays in
 * the record.
 */
export function shareText(record: Part, drafts: readonly Draft[], places: { readonly [field: string]: string }): void {
  const said = Object.entries(places).map(([field, where]) => ({ field, where, text: peekWords(record, where) }));
  for (const { field, where, text } of said) {
    if (text === undefined) continue;
    const telling = drafts.filter(
      ({ eventType, fields }) => mayHave(eventType, field) && (fields[field] ?? text) === text,
    );
    for (const draft of telling) {
      if (!(field in draft.fields)) draft.fields = inOrder(draft.eventType, { ...draft.fields, [field]: text });
    }
    if (telling.length > 0) take(record, where);
  }
}

const mayHave = (eventType: CapturedType, field: string) => Object.hasOwn(VOCABULARY[eventType].properties, field);

function inOrder(eventType: CapturedType, fields: Draft['fields']): Draft['fields'] {
  const ordered: Draft['fields'] = {};
  for (const name in VOCABULARY[eventType].properties) if (name in fields) ordered[name] = fields[name];
  return ordered;
}

/** The events of a record. If no reader made one, a `record` of this kind. The first event carries the rest. */
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
