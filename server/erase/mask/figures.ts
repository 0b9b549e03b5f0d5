import { Value } from 'typebox/value';
import type { Token } from '../../../redact/json-places.ts';
import { REST_USAGE } from '../../../transcript/entry/rest-usage.ts';
import { KNOWN_TERMS } from '../../../transcript/entry/usage.ts';
import { VOCABULARY } from '../../../transcript/vocabulary.ts';

/*
 * The fields of an event that are counted and not read: figures, such as tokens, the words of an enumeration, and the name of
 * the model and the terms, which decide the price. A mask leaves them as they are, because tokens and cost would change without anybody noticing.
 */

const FIELDS: { readonly [eventType: string]: { readonly [field: string]: object } | undefined } = Object.fromEntries(
  Object.entries(VOCABULARY).map(([eventType, { properties }]) => [eventType, properties]),
);

/** Fields whose words decide the price. */
const PRICED: ReadonlySet<string> = new Set(['speed', 'tier', 'region']);

/** The name of the field if the token is such a field of an event of this type. */
export function figureOf(eventType: string, json: string, token: Token): string | undefined {
  const { kind, depth, field, name, start, end } = token;
  if (kind === 'key') return undefined;
  const isTerm = () => kind === 'string' && KNOWN_TERMS.has(JSON.parse(json.slice(start, end)));
  // A record may have the usage of its response, of an advisor or of a sub-agent in its rest.
  if (field === 'rest' && REST_USAGE.has(name) && (kind === 'number' || name === 'model' || isTerm())) return name;
  const schema = depth === 1 && Object.hasOwn(FIELDS, eventType) ? FIELDS[eventType]?.[field] : undefined;
  if (schema === undefined) return undefined;
  const isFigure =
    kind === 'number'
      ? 'type' in schema && (schema.type === 'integer' || schema.type === 'number')
      : field === 'model' ||
        (PRICED.has(field) && isTerm()) ||
        ('enum' in schema && Value.Check(schema, JSON.parse(json.slice(start, end))));
  return isFigure ? field : undefined;
}
