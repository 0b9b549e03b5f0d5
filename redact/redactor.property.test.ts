import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMachineRedactor, redactOne } from '../cli/test/redacting.ts';
import { runs } from '../contract/test/runs.ts';
import type { CapturedEvent } from '../transcript/vocabulary.ts';
import { createRedactor } from './redactor.ts';
import { RULES } from './rules/all.ts';
import { RULE_EXAMPLES } from './test/rule-examples.ts';

const source = { agent: 'codex', session: 's-1', file: '2026/a.jsonl', position: 12 };
const KEY = new Uint8Array(32);

function wrap(rest: unknown): CapturedEvent {
  return { eventType: 'record', payload: { source, rest } };
}

/** Secrets of all letters: quotes, backslashes, line breaks, other alphabets. */
const secrets = fc
  .string({
    unit: fc.oneof(fc.constantFrom(...'aB3+/="\\\n%$\'&<> é漢_-'), fc.string({ minLength: 1, maxLength: 1 })),
    minLength: 8,
    maxLength: 60,
  })
  .filter((secret) => new Set(secret).size >= 5 && secret.trim().length >= 8 && secret.isWellFormed());

const ENCODINGS: { [name: string]: (secret: string) => string } = {
  plain: (secret) => secret,
  'JSON once': (secret) => JSON.stringify({ value: secret }),
  'JSON twice': (secret) => JSON.stringify({ value: JSON.stringify([secret]) }),
  'JSON three times': (secret) => JSON.stringify([JSON.stringify([JSON.stringify({ a: secret })])]),
  'half of a JSON text': (secret) => `${JSON.stringify({ value: secret }).slice(0, -1)} …`,
  address: (secret) => `https://x.test/?q=${encodeURIComponent(secret)}&r=1`,
  'address, small letters': (secret) => encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
  form: (secret) => new URLSearchParams({ q: secret }).toString(),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  'base64 after one letter': (secret) => Buffer.from(`:${secret} `).toString('base64'),
  'base64 after two letters': (secret) => Buffer.from(`u:${secret}\n`).toString('base64'),
  base64url: (secret) => Buffer.from(`u:${secret}`).toString('base64url'),
  hex: (secret) => Buffer.from(secret).toString('hex'),
  'hex in capitals': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
};

const encodings = fc.constantFrom(...Object.keys(ENCODINGS));
const around = fc.string({ maxLength: 12 });

/** Any JSON value with `leaf` among its strings and keys. */
function json(leaf: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const text = fc.oneof({ weight: 2, arbitrary: leaf }, { weight: 1, arbitrary: fc.string() });
  return fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
      fc.array(tie('node'), { maxLength: 4 }),
      fc.dictionary(text, tie('node'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).node;
}

function collectStrings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    Array.isArray(value) ? collectStrings(item) : [key, ...collectStrings(item)],
  );
}

/** The texts that undoing JSON, addresses, base64 and hex gives, in any order, two levels deep. */
function decodeAll(text: string, depth = 2): string[] {
  if (depth === 0) return [text];
  const readings = [text, text.replace(/\+/g, ' ')].map((each) => each.replace(/(?:%[0-9a-f]{2})+/gi, readAddress));
  for (const [literal] of text.matchAll(/"(?:[^"\\]|\\.)*"/g)) readings.push(readLiteral(literal));
  for (const [run] of text.matchAll(/[\w+/-]{8,}/g)) {
    readings.push(Buffer.from(run, 'hex').toString());
    for (const skip of [0, 1, 2, 3]) readings.push(Buffer.from(run.slice(skip), 'base64').toString());
  }
  return [text, ...readings.flatMap((reading) => (reading === text ? [] : decodeAll(reading, depth - 1)))];
}

function readAddress(codes: string): string {
  try {
    return decodeURIComponent(codes);
  } catch {
    return codes;
  }
}

function readLiteral(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return literal;
  }
}

/** The shape of a value: types, lengths, number of keys. */
function describeShape(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(describeShape);
  if (typeof value === 'object' && value !== null) return Object.values(value).map(describeShape);
  return typeof value === 'string' ? 'string' : value;
}

describe('a secret of this machine', () => {
  const planted = fc.tuple(secrets, encodings, around, around).chain(([secret, encoding, before, after]) => {
    const text = `${before}${ENCODINGS[encoding]?.(secret)}${after}`;
    return json(fc.constant(text)).map((rest) => ({ secret, rest: { rest, text, [text]: 1 } }));
  });

  test('survives in no place and no encoding', () => {
    fc.assert(
      fc.property(planted, ({ secret, rest }) => {
        const redactor = createMachineRedactor({ variables: {}, home: '/nowhere', secrets: [secret], key: KEY });
        const after = redactOne(redactor, wrap(rest));
        const readable = collectStrings(after.payload.rest).flatMap((text) => decodeAll(text));
        expect(readable.filter((text) => text.includes(secret))).toEqual([]);
        expect(after.payload.redactions?.['known-value']).toBeGreaterThanOrEqual(1);
        expect(describeShape(after.payload.rest)).toEqual(describeShape(rest));
      }),
      runs(300),
    );
  });

  test('is masked in paths and ids as well, which stay distinct', () => {
    fc.assert(
      fc.property(secrets, (secret) => {
        const redactor = createMachineRedactor({ variables: {}, home: '/nowhere', secrets: [secret], key: KEY });
        const event: CapturedEvent = { eventType: 'record', payload: { source: { ...source, file: `a/${secret}/b` } } };
        const { file, ...others } = redactOne(redactor, event).payload.source;
        expect(file).toMatch(/^a\/\[REDACTED:known-value:[0-9a-f]{4}\]\/b$/);
        expect({ ...others, file: source.file }).toEqual(source);
      }),
      runs(100),
    );
  });
});

describe('any payload', () => {
  const hits = Object.values(RULE_EXAMPLES).flatMap(({ hit }) => hit);
  const piece = fc.oneof(
    fc.string({ maxLength: 10 }),
    fc.constantFrom(...hits),
    fc.constantFrom(
      'password=',
      '"token": "',
      "'",
      '"',
      '\\"',
      ' ',
      '\n',
      'Bearer ',
      '{',
      '}',
      '[REDACTED:key-name:12ab]',
      '[REDACTED:',
    ),
    fc.constantFrom(...RULES.flatMap((rule) => rule.keywords)),
  );
  const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  const keyed = fc.tuple(fc.constantFrom('password', 'apiKey', 'authorization', 'name', 'value', 'credentials'), text);
  const payloads = fc.oneof(
    json(text),
    fc.array(keyed, { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs)),
    json(text).map((value) => JSON.stringify(value)),
  );
  const redactor = createMachineRedactor({
    variables: {},
    home: '/nowhere',
    key: KEY,
    secrets: ['Sommer/regen+2024!'],
  });

  test('is unchanged by a second pass, and keeps its shape', () => {
    fc.assert(
      fc.property(payloads, (rest) => {
        const once = redactOne(redactor, wrap(rest));
        expect(once.eventType).toBe('record');
        expect(redactOne(redactor, once)).toEqual(once);
        expect(describeShape(once.payload.rest)).toEqual(describeShape(rest));
      }),
      runs(600),
    );
  });
});

describe('a password that a person made up', () => {
  const FORMS = [
    'password = "§"',
    "DB_PASSWORD='§'",
    '{"login":"ada","password":"§"}',
    'api_key: § # staging',
    'The password is § for now',
    'Пароль от базы: § ',
    '您的密码是§，请修改',
    '<password>§</password>',
    'mysqli_connect("db", "ada", "§")',
    "CREATE USER ada IDENTIFIED BY '§'",
    'curl -u ada:§ https://x.test',
  ];
  const passwords = fc
    .tuple(
      fc.constantFrom('Sommerregen', 'Mountainlake', 'saddle-Bird', 'Kotek!Ogrodowy'),
      fc.integer({ min: 10, max: 99_999 }),
    )
    .map(([word, number]) => `${word}${number}`);
  const calm = fc.string({ unit: fc.constantFrom(...'abc \n\t{}[]"\\é密🔑'), maxLength: 12 });
  const redactor = createRedactor({ key: KEY });

  test('is masked whole in any nesting of JSON, which stays valid', () => {
    fc.assert(
      fc.property(passwords, fc.constantFrom(...FORMS), fc.nat(2), calm, calm, (secret, form, depth, a, b) => {
        let json: unknown = [`${a} ${form.replace('§', () => secret)} ${b}`];
        for (let level = 0; level < depth; level++) json = { line: JSON.stringify(json) };
        // After other words it is not a JSON text, and is masked like any other text.
        const event = wrap({ value: JSON.stringify(json), line: `log: ${JSON.stringify(json)}` });
        const { value, line } = redactOne(redactor, event).payload.rest as { value: string; line: string };
        for (const text of [value, line.slice('log: '.length)]) {
          expect(describeShape(JSON.parse(text))).toEqual(describeShape(json));
          expect(
            collectStrings(JSON.parse(text))
              .flatMap((each) => decodeAll(each, depth + 1))
              .join(),
          ).not.toContain(secret.slice(2, 9));
        }
      }),
      runs(300),
    );
  });
});
