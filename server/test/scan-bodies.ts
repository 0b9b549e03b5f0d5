import fc from 'fast-check';
import { jsonSpace, jsonText, objectText } from './json-text.ts';

/** Bodies of appends as text: valid ones, nearly valid ones, and changes to their bytes. */

const escapedName = (name: string) => {
  const written = [...name].map((character) => fc.constantFrom(character, character, escapeOf(character)));
  return fc.oneof(
    { weight: 5, arbitrary: fc.constant(name) },
    { weight: 1, arbitrary: fc.tuple(...written).map(join) },
  );
};
const join = (parts: string[]) => parts.join('');
const escapeOf = (character: string) => `\\u00${character.charCodeAt(0).toString(16).toUpperCase()}`;

type Member = fc.Arbitrary<[name: string, value: string]>;
const member = (name: string, value: fc.Arbitrary<string>): Member =>
  fc.tuple(
    escapedName(name).map((written) => `"${written}"`),
    value,
  );
const rarely = (usual: fc.Arbitrary<string>, other: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: other });

const unknown = fc.tuple(
  fc.constantFrom('"x"', '"Events"', '"payload "', '"__proto__"', '""', '"\\\\payload"', '"event"', '"eventTypes"'),
  jsonText,
);

/** Adds members of any name before and beside the member that counts: the last of each name counts. */
const objectOf = (...counting: Member[]) =>
  fc
    .tuple(
      fc.array(fc.oneof(unknown, ...counting), { maxLength: 2 }),
      fc.tuple(...counting),
      fc.array(unknown, { maxLength: 1 }),
      jsonSpace,
      jsonSpace,
    )
    .map(([before, right, after, s, t]) => {
      const members = [...before, ...right, ...after].map(([name, value]) => `${t}${name}${s}:${t}${value}${s}`);
      return `{${members.join(',')}${t}}`;
    });

const listOf = (item: fc.Arbitrary<string>, maxLength: number) =>
  fc.tuple(fc.array(item, { minLength: 1, maxLength }), jsonSpace).map(([items, s]) => `[${s}${items.join(`${s},`)}]`);

const LONG = ['x', 'é', '😀', '\\ud83d\\ude00', '\\ud800', '\\u0041'];
const longText = (most: number) =>
  fc
    .tuple(fc.constantFrom(...LONG), fc.constantFrom(1, most / 2, most - 1, most, most + 1, most * 2 + 1))
    .map(([character, count]) => `"${character.repeat(count)}"`);

const typeText = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('"message"', '"tool.result"', '"né"', '"a\\u0062c"', '"a\\"\\\\/"') },
  { weight: 1, arbitrary: longText(256) },
);
const deep = fc
  .constantFrom(63, 64, 65, 128)
  .map((levels) => `{"a":${'[{"a":'.repeat(levels - 1)}[]${'}]'.repeat(levels - 1)}}`);

const event = objectOf(
  member('eventType', rarely(typeText, jsonText)),
  member('payload', rarely(objectText, fc.oneof(jsonText, deep))),
);
const bare = fc.constant('{"eventType":"a"}');
const many = fc.constantFrom(49, 50, 51).map((count) => `[${Array(count).fill('{"eventType":"a"}').join(',')}]`);
const events = member('events', rarely(rarely(listOf(fc.oneof(event, bare), 3), jsonText), many));
const key = member('idempotencyKey', rarely(fc.oneof(fc.constant('"k-1"'), longText(255)), jsonText));

/** Text of the body of an append. */
export const appendText = fc.oneof(objectOf(events), objectOf(events, key));
const FRAGMENTS = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '0',
    '-',
    '.',
    'e',
    '+',
    '1',
    ' ',
    '\t',
    '\v',
    '\f',
    '\0',
    '\u00a0',
    '\ufeff',
  ],
  ...[
    '01',
    '1.',
    '.5',
    '-',
    '-0',
    '1e',
    '1e+',
    '+1',
    '0x1',
    '1e5',
    '-1.5E-3',
    'Infinity',
    'NaN',
    'tru',
    'nulll',
    'True',
  ],
  ...[
    'null',
    'true',
    '{}',
    '[]',
    '""',
    '{},',
    ',{}',
    '[],',
    ',1',
    ':1',
    '\\u00',
    '\\ud800',
    '\\x41',
    '\\u005g',
    '\n',
    '\r\n',
  ],
  ...[
    '"events":[],',
    '"events":1,',
    '"payload":{},',
    '"payload":[],',
    '"payload":null,',
    '"eventType":"z",',
    '"eventType":1,',
  ],
  ...['"idempotencyKey":"k",', '"idempotencyKey":7,', '"__proto__":{},', '"\\u0065vents":[{}],', '{"eventType":"b"},'],
  ...['"sessionId":"\\u0000",', '"body":{},', '"appends":[],', '/**/', "'", '[[[[', ']]]]', '{"":', '1,', '"a":1,'],
  `${'['.repeat(130)}${']'.repeat(130)},`,
].map((fragment) => Buffer.from(fragment));
const BROKEN_UTF8 = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80]].map(
  (bytes) => Buffer.from(bytes),
);
const NAMES = ['events', 'payload', 'eventType', 'idempotencyKey', 'x', 'body', 'appends', 'sessionId'];
const VALUES = ['null', '{}', '[]', '""', '0', '{"eventType":"c"}', '[{"eventType":"d"}]', '"k"', '{"payload":1}'];

/** Changes bytes in a few places; about half of the results are still JSON. */
export function mutate(bytes: Buffer, random: () => number): Buffer {
  let mutated = bytes;
  for (let left = random() < 0.7 ? 1 : 2; left > 0; left--) {
    const change = pick(random() < 0.6 ? GENTLE : ROUGH, random);
    mutated = change(mutated, random);
  }
  return mutated;
}

type Change = (bytes: Buffer, random: () => number) => Buffer;

function pick<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

/** Changes that usually leave valid JSON. */
const GENTLE: Change[] = [
  (bytes, random) =>
    splice(bytes, placeAfter(bytes, '{[,:', random), 0, Buffer.from(pick([' ', '\n', '\t', '\r'], random))),
  (bytes, random) => splice(bytes, placeAfter(bytes, '{', random), 0, memberOf(random)),
  (bytes, random) => splice(bytes, placeAfter(bytes, '[', random), 0, Buffer.from(`${pick(VALUES, random)},`)),
  (bytes, random) => splice(bytes, placeAfter(bytes, '}]', random) - 1, 0, Buffer.from(`,${pick(VALUES, random)}`)),
  rename,
  (bytes, random) =>
    replaceOne(bytes, pick(['{}', '[]', '1', 'null', 'true', '""'], random), pick(VALUES, random), random),
];

/** Changes that usually break the JSON. */
const ROUGH: Change[] = [
  (bytes, random) => {
    const flipped = Buffer.from(bytes);
    const at = Math.floor(random() * bytes.length);
    if (at < bytes.length) flipped[at] = (flipped[at] as number) ^ (1 << Math.floor(random() * 8));
    return flipped;
  },
  (bytes, random) => splice(bytes, somewhere(bytes, random), 0, pick(FRAGMENTS, random)),
  (bytes, random) => splice(bytes, somewhere(bytes, random), 1, pick(FRAGMENTS, random)),
  (bytes, random) => splice(bytes, somewhere(bytes, random), 0, pick(BROKEN_UTF8, random)),
  (bytes, random) => splice(bytes, somewhere(bytes, random), 1 + Math.floor(random() ** 3 * 40), Buffer.alloc(0)),
  (bytes, random) => bytes.subarray(0, somewhere(bytes, random)),
  (bytes, random) => {
    const from = somewhere(bytes, random);
    return splice(bytes, somewhere(bytes, random), 0, bytes.subarray(from, from + Math.floor(random() ** 2 * 60)));
  },
];

const splice = (bytes: Buffer, at: number, remove: number, insert: Buffer) =>
  Buffer.concat([bytes.subarray(0, Math.max(at, 0)), insert, bytes.subarray(Math.max(at, 0) + remove)]);

/** A place at one of JSON's structural characters half of the time, any place otherwise. */
const somewhere = (bytes: Buffer, random: () => number) =>
  random() < 0.5
    ? Math.floor(random() * (bytes.length + 1))
    : placeAfter(bytes, '{}[],:"', random) - Math.floor(random() * 2);

/** The place behind the next of these characters, searched from a random start; 1 if there is none. */
function placeAfter(bytes: Buffer, marks: string, random: () => number): number {
  for (let at = Math.floor(random() * bytes.length); at < bytes.length; at++) {
    if (marks.includes(String.fromCharCode(bytes[at] as number))) return at + 1;
  }
  return 1;
}

const memberOf = (random: () => number) => Buffer.from(`"${pick(NAMES, random)}":${pick(VALUES, random)},`);

function rename(bytes: Buffer, random: () => number): Buffer {
  return replaceOne(bytes, `"${pick(NAMES, random)}"`, `"${pick(NAMES, random)}"`, random);
}

/** Replaces one of the occurrences, chosen at random. */
function replaceOne(bytes: Buffer, from: string, to: string, random: () => number): Buffer {
  const start = bytes.indexOf(from, Math.floor(random() * bytes.length));
  return start < 0 ? bytes : splice(bytes, start, from.length, Buffer.from(to));
}
