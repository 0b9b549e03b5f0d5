import { Value } from 'typebox/value';
import { ECHO_USAGE } from '../../contract/entry/progress.ts';
import { VOCABULARY } from '../../contract/transcript.ts';
import type { Token } from '../../redact/json-places.ts';

/*
 * The fields of an event that are counted and not read: figures, such as tokens, the words of an enumeration, and the name of
 * the model, which has the price. A mask leaves them as they are, because tokens and cost would change without anybody noticing.
 */

const FIELDS: { readonly [eventType: string]: { readonly [field: string]: object } | undefined } = Object.fromEntries(
  Object.entries(VOCABULARY).map(([eventType, { properties }]) => [eventType, properties]),
);

/** The name of the field if the token is such a field of an event of this type. */
export function figureOf(eventType: string, json: string, token: Token): string | undefined {
  const { kind, depth, field, name, start, end } = token;
  if (kind === 'key') return undefined;
  // Claude Code repeats the usage of sub-agents in the records of its notices.
  if (eventType === 'notice' && field === 'rest' && (kind === 'number' || name === 'model') && ECHO_USAGE.has(name)) {
    return name;
  }
  const schema = depth === 1 && Object.hasOwn(FIELDS, eventType) ? FIELDS[eventType]?.[field] : undefined;
  if (schema === undefined) return undefined;
  const isFigure =
    kind === 'number'
      ? 'type' in schema && (schema.type === 'integer' || schema.type === 'number')
      : field === 'model' || ('enum' in schema && Value.Check(schema, JSON.parse(json.slice(start, end))));
  return isFigure ? field : undefined;
}
