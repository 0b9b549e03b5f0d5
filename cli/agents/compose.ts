import type { CapturedEvent, CapturedType, Source, Vocabulary } from '../../contract/transcript.ts';
import type { Agent, RecordPlace } from './agent.ts';
import { type Remainder, restOf } from './remainder.ts';

/** An event before it is told where it comes from. */
export interface Draft {
  eventType: CapturedType;
  fields: object;
}

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

/**
 * The payload fields that may hold a leaf the record does not have, or has once while several events of the record say
 * it. Every other leaf of an event was taken out of the record.
 */
export const ADDED: ReadonlySet<string> = new Set([
  'source.agent',
  'source.agentVersion', // where the record has none: the file's
  'source.session', // where the record says another, or none
  'source.subagent',
  'source.file',
  'source.position',
  'source.index',
  'source.revision',
  'source.record', // from here on: said again by the second and later events of a record
  'source.parent',
  'occurredAt',
  'model',
  'messageId',
  'responseId', // also: made from the running total where the agent has no id of a response
  'callId',
  'kind', // the parser's word for what the record is
  'name', // of a tool that the agent only names by the record's type
  'text', // '' where an event must have one and the record has none, such as encrypted thoughts; or without a wrapping
  'images', // a count
  'titleBy',
  'cached', // how the agent counts
  'isError', // where the agent says the opposite, that it succeeded, or uses another word
]);

export function draft<Name extends CapturedType>(eventType: Name, fields: Fields<Name>): Draft {
  const present: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) present[key] = value;
  return { eventType, fields: present };
}

/** The events of a record. The first one carries what the parser left of it. */
export function compose(
  remainder: Remainder,
  place: RecordPlace,
  envelope: Envelope,
  drafts: Draft[],
): CapturedEvent[] {
  const { agent, agentVersion = place.origin.agentVersion, record, parent, revision, occurredAt } = envelope;
  const rest = restOf(remainder);
  const { session, subagent } = place.origin;
  return drafts.map(({ eventType, fields }, index) => {
    const source: Source = {
      agent,
      ...(agentVersion !== undefined && { agentVersion }),
      session,
      ...(record !== undefined && { record }),
      ...(parent !== undefined && { parent }),
      ...(subagent !== undefined && { subagent }),
      file: place.file,
      position: place.position,
      ...(drafts.length > 1 && { index }),
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
