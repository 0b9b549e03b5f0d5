import { type TProperties, type TSchema, Type } from 'typebox';
import { VISIBLE } from './visible.ts';

/** An opaque, prefixed id such as `ses_01997f…`. */
export const Id = (prefix: string) => Type.String({ description: `opaque id, \`${prefix}_…\`` });

/** The format alone would accept a zone name after the time (RFC 9557), which `Date` cannot read. */
const DATE_TIME = '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?([Zz]|[+-]\\d{2}:\\d{2})$';

/** UTC, ISO-8601 with milliseconds and `Z`. */
export const Timestamp = Type.String({
  format: 'date-time',
  pattern: DATE_TIME,
  examples: ['2026-11-21T09:12:04.000Z'],
});

/** PostgreSQL cannot store NUL in a text. */
const WITHOUT_NUL = '^[^\\u0000]*$';

/** A required string: at least one character, none of them NUL. */
export const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: WITHOUT_NUL });

/** A required text that is shown to people who did not write it, such as any name. */
export const VisibleText = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: VISIBLE });

/** One of the given words. */
export const OneOf = <const Words extends readonly string[]>(words: Words, description?: string) =>
  Type.Unsafe<Words[number]>(Type.Enum([...words], description === undefined ? {} : { description }));

/** A JSON object. The service does not examine its content. */
export const JsonObject = Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true }));

/** An object with ignored unknown fields, so that an older service accepts the body of a newer client. */
export const Body = <Properties extends TProperties>(properties: Properties) => Type.Object(properties);

/** `{ [name]: schema }`, the envelope of most answers. */
export const Envelope = <const Name extends string, Schema extends TSchema>(name: Name, schema: Schema) =>
  Type.Object({ [name]: schema } as { [Key in Name]: Schema });
