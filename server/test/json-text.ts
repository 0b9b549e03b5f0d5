import fc from 'fast-check';

/** JSON as people and programs write it: odd spacing, every escape, repeated keys, numbers no double can hold. */

const space = fc
  .array(fc.constantFrom(' ', '\t', '\n', '\r'), { maxLength: 2 })
  .map((characters) => characters.join(''));

const hex = fc.integer({ min: 0, max: 0xffff }).map((code) => code.toString(16).padStart(4, '0'));

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 30 }).map(escaped) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 6 }).map(escaped) },
  { weight: 2, arbitrary: fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t') },
  { weight: 2, arbitrary: hex.map((code) => `\\u${code}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\\u0000', '\\ud800', '\\udc00', '\\uD83D\\uDE00', '{', '}', '[', ']', ',', ':'),
  },
);

/** Escapes only the characters that JSON requires one to escape. */
function escaped(text: string): string {
  return JSON.stringify(text.toWellFormed()).slice(1, -1);
}

const text = fc.array(piece, { maxLength: 4 }).map((pieces) => `"${pieces.join('')}"`);

const key = fc.oneof(
  text,
  fc.constantFrom('"a"', '"payload"', '"events"', '"eventType"', '"__proto__"', '"constructor"'),
);

const number = fc.oneof(
  fc.constantFrom('-0', '0', '1.0', '1e400', '-1E-400', '12345678901234567890', '0.1000', '1e+5', '1E5'),
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/),
);

const { value, object } = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(text, number, fc.constantFrom('true', 'false', 'null')),
    tie('object'),
    tie('list'),
  ),
  list: fc
    .tuple(space, fc.array(fc.tuple(tie('value'), space), { maxLength: 4 }))
    .map(([before, items]) => `[${before}${items.map(([item, after]) => item + after).join(',')}]`),
  object: fc
    .tuple(space, fc.array(fc.tuple(key, space, space, tie('value'), space), { maxLength: 4 }))
    .map(([before, members]) => `{${before}${members.map(member).join(',')}}`),
}));

function member([name, before, after, inner, end]: readonly [string, string, string, string, string]): string {
  return `${name}${before}:${after}${inner}${end}`;
}

/** Text of any JSON value. */
export const jsonText = value;
/** Text of a JSON object. */
export const objectText = object;
/** White space of JSON, or none. */
export const jsonSpace = space;
