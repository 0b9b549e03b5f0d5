import { describe, expect, test } from 'vitest';
import { scanAppend } from '../ingest/scan/append.ts';
import { agrees, referenceOfAppend, verdictOf } from './scan-reference.ts';

const around = (value: string) => `{"x":${value},"events":[{"eventType":"a"}]}`;
const withFields = (fields: string) => `{"events":[{"eventType":"a",${fields}}]}`;

function expectAgreement(bytes: Buffer) {
  const verdict = verdictOf(() => scanAppend(bytes));
  expect(verdict, bytes.toString()).toSatisfy((actual) => agrees(actual, referenceOfAppend(bytes)));
}

describe('the grammar of an append', () => {
  const VALUES = [
    ...['0', '-0', '10', '1.5', '-1.50', '1e5', '1E+5', '0e-0', '1e400', '12345678901234567890', '0.10'],
    ...[
      '01',
      '-01',
      '00',
      '1.',
      '.5',
      '-',
      '-a',
      '+1',
      '1e',
      '1e+',
      '1.e1',
      '0x1',
      '1_0',
      '1a',
      '--1',
      '1-',
      'Infinity',
      'NaN',
    ],
    ...['true', 'false', 'null', 'True', 'tru', 'truee', 'nul', 'fals', 'undefined', 't', '"', "'a'", '//', '/**/1'],
    ...[
      '""',
      '"a',
      '"\\',
      '"\\"',
      '"\\\\"',
      '"\\/\\b\\f\\n\\r\\t"',
      '"\\a"',
      '"\\U0041"',
      '"\\\'"',
      '"\\\n"',
      '"\\\0"',
    ],
    ...[
      '"\\u0041"',
      '"\\uAbCd"',
      '"\\u004"',
      '"\\u00g0"',
      '"\\u"',
      '"\\u+041"',
      '"\\ud800"',
      '"\\udc00\\ud800"',
      '"\\u0000"',
    ],
    ...['"\n"', '"\t"', '"\0"', '"\x1f"', '"\x7f"', '"\u0085"', '"\u2028"', '"\ufeff"', '"😀"', '"é€"'],
    ...[
      '[]',
      '[ ]',
      '[1]',
      '[1,]',
      '[,1]',
      '[,]',
      '[1 2]',
      '[1',
      '1]',
      '[1}',
      '[[]',
      '[]]',
      '[1,,2]',
      '[:1]',
      '["a":1]',
    ],
    ...[
      '{}',
      '{ }',
      '{"a":1}',
      '{"a":1,}',
      '{,}',
      '{"a"}',
      '{"a":}',
      '{a:1}',
      '{"a":1',
      '{"a":1]',
      '{"a" 1}',
      '{"a":1 "b":2}',
    ],
    ...[
      '{1:1}',
      '{"a"::1}',
      '{"a":1:2}',
      '{"a":1,,"b":2}',
      '{null:1}',
      '{"\\u0061":1}',
      '{"\\q":1}',
      '{"a\n":1}',
      '{"__proto__":1}',
    ],
    ...['', ' ', ' \t\r\n1 \t\r\n', '\v1', '\f1', '1\v', '\u00a01', '\u20281', '\ufeff1', '1\0', '\0'],
  ];
  const BODIES = [
    '{',
    '}',
    '{}{}',
    '{} 1',
    '{},',
    '\ufeff{}',
    '\0{}',
    '{}\0',
    '{"events"',
    '{"events":[{"eventType":"a"}]',
  ];
  const PLACES = [
    (value: string) => value,
    around,
    (value: string) => around(`[${value}]`),
    (value: string) => around(`{"a":${value}}`),
    (value: string) => `{"events":${value}}`,
    (value: string) => `{"events":[${value}]}`,
    (value: string) => withFields(`"x":${value}`),
    (value: string) => withFields(`"payload":${value}`),
    (value: string) => withFields(`"payload":{"a":${value}}`),
  ];

  test.each([...VALUES, ...BODIES])('agrees with JSON.parse on %j in any place', (value) => {
    for (const place of PLACES) expectAgreement(Buffer.from(place(value)));
  });

  test.each([' ', '\t', '\n', '\r', '\v', '\f', '\u00a0', '\ufeff', '\0'])(
    'agrees with JSON.parse on %j as white space',
    (space) => {
      const tokens = '~{~"events"~:~[~{~"eventType"~:~"a"~,~"b"~:~[~1~]~}~]~}~'.split('~');
      for (let i = 1; i < tokens.length; i++) {
        expectAgreement(Buffer.from(tokens.slice(0, i).join('') + space + tokens.slice(i).join('')));
      }
    },
  );

  test.each([
    ['an overlong NUL', [0xc0, 0x80]],
    ['an overlong slash', [0xe0, 0x80, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a code point above U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['a lone continuation byte', [0x80]],
    ['a cut sequence', [0xe2, 0x82]],
    ['a byte that starts no sequence', [0xff]],
  ])('refuses %s in UTF-8', (_, bytes) => {
    const [before, after] = around('"~"').split('~') as [string, string];
    const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
    expect(() => scanAppend(body)).toThrow('The body is not UTF-8.');
  });

  test('reports where a body is wrong, or that it ends too early', () => {
    expect(() => scanAppend(Buffer.from('{"events":01}'))).toThrow('not JSON: byte 11 is not allowed there.');
    expect(() => scanAppend(Buffer.from('{"events":['))).toThrow('not JSON: it ends too early.');
  });

  test('reads nothing behind or before the body', () => {
    const text = Buffer.from(
      ` {"events":[{"eventType":"a","payload":{"b":[-1.5e3,true,"\\u0041"]}}],"idempotencyKey":"k"}`,
    );
    expect(scanAppend(text).events).toHaveLength(1);
    for (let end = 0; end < text.length; end++) {
      expect(() => scanAppend(text.subarray(0, end)), text.toString('utf8', 0, end)).toThrow('ends too early');
    }
    for (let start = 2; start < text.length; start++)
      expect(() => scanAppend(text.subarray(start))).toThrow('not JSON');
  });
});
