import { describe, expect, test } from 'vitest';
import { makeFolder, write } from '../cli/test/folder.ts';
import { createMachineRedactor, redactOne } from '../cli/test/redacting.ts';
import type { CapturedEvent } from '../transcript/vocabulary.ts';
import { createRedactor, type Subject } from './redactor.ts';
import { made } from './test/made.ts';

const secret = 'Sommer/regen+2024!';
const key = new Uint8Array(32);
const redactor = createMachineRedactor({ variables: { DB_PASSWORD: secret }, home: '/nowhere', key });
const source = { agent: 'codex', session: 's-1', file: '2026/a.jsonl', position: 12 };
const of = { session: 'codex s-1' };
const MARK = /^\[REDACTED:[a-z0-9-]+:[0-9a-f]{4}\]$/;

function call(input: unknown): CapturedEvent {
  return { eventType: 'tool.call', payload: { source, name: 'shell', input } };
}

function redactInput(input: unknown): unknown {
  return (redactOne(redactor, call(input)).payload as { input?: unknown }).input;
}

test('a known value is masked and counted', () => {
  const event = redactOne(redactor, call({ command: `mysql -p${secret}`, [secret]: 1 }));
  expect(JSON.stringify(event)).not.toContain(secret);
  expect(event.payload.redactions).toEqual({ 'known-value': 2 });
  expect(event.payload.source).toEqual(source);
});

test('the event itself is returned if nothing was masked', () => {
  const event = call({ command: 'ls -la', path: '/home/ada/projects/shop' });
  expect(redactOne(redactor, event)).toBe(event);
});

test('equal secrets have equal marks in every encoding, and other keys make other marks', () => {
  const [plain, encoded] = redactInput([secret, Buffer.from(secret).toString('hex')]) as string[];
  expect(plain).toMatch(MARK);
  expect(encoded).toBe(plain);
  const other = createMachineRedactor({
    variables: { DB_PASSWORD: secret },
    home: '/nowhere',
    key: new Uint8Array(32).fill(7),
  });
  expect(JSON.stringify(redactOne(other, call([secret])))).not.toContain(plain);
});

test.each([
  ['a field', { password: 'correct horse' }],
  ['a field of another style', { apiKey: 'qwertz99' }],
  ['a header', { headers: { Authorization: 'Bearer abcd1234efgh5678ijkl' } }],
  ['a list under a name', { passwords: ['hunter2hunter2'], client_secret: ['s3cr3ts3cr3t'] }],
  ['a flag and its value', ['deploy', '--password', 'hunter2hunter2']],
  ['a pair of name and value', { env: [{ name: 'API_KEY', value: 'qwertz99' }] }],
  ['an entry', [['authorization', 'qwertz99qwertz']]],
  ['JSON text', { arguments: '{"url":"x","secret_key":"a\\"b\\\\c\\u00e9"}' }],
])("the value of a secret's name is masked: %s", (_place, input) => {
  const text = JSON.stringify(redactInput(input));
  expect(text).not.toMatch(/correct|qwertz|hunter2|abcd1234|s3cr3t|u00e9/);
  expect(text).toMatch(/\[REDACTED:(?:key-name|bearer-token):/);
});

test.each([
  'export DB_PASSWORD=correcthorse',
  '{\\"token\\": \\"a1b2c3d4e5f6a7b8c9d0\\"}',
  'X-Api-Key: a1b2c3d4e5f6',
  'login --token a1b2c3d4e5f6a7b8c9d0',
  '<password>hunter2!x</password>',
  'line\\nAPI_SECRET=a1b2c3d4e5f6',
])('an assignment within text is masked: %s', (text) => {
  expect(redactInput(text)).toMatch(/\[REDACTED:key-name:/);
});

test('numbers in JSON text, blanks and untouched strings stay as they were written', () => {
  const text = '{ "n": 1.0e+3,\t"big": 12345678901234567890, "u": "\\u00e4\\/", "password": "hunter2hunter2" }';
  expect(redactInput(text)).toBe(
    text.replace(/hunter2hunter2/, /\[REDACTED[^\]]*\]/.exec(String(redactInput(text)))?.[0] ?? ''),
  );
});

test('exact numbers are leaves', () => {
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };
  const event = redactOne(
    redactor,
    call({ big: rawJSON('12345678901234567890'), password: rawJSON('12345678'), x: secret }),
  );
  expect(JSON.stringify(event)).toContain('"big":12345678901234567890,"password":12345678');
});

test('keys that mask to the same text keep their values', () => {
  const hex = Buffer.from(secret).toString('hex');
  const input = redactInput({ [secret]: 1, [hex]: 2, other: 3, [hex.toUpperCase()]: { deep: 4 } }) as object;
  expect(Object.values(input)).toEqual([1, 2, 3, { deep: 4 }]);
  expect(redactInput(input)).toEqual(input);
});

test('__proto__ is a key like any other', () => {
  const input = redactInput(JSON.parse(`{"__proto__":{"a":1},"x":"${secret}"}`)) as object;
  expect(Object.keys(input)).toEqual(['__proto__', 'x']);
});

test.each([0, 250, 500])('a list has the name of its field %i levels deep', (levels) => {
  for (const list of [['tr0ub4dor'], [['tr0ub4dor']], ['red', { a: 1 }, 'tr0ub4dor']]) {
    let input: unknown = { password: list };
    for (let depth = 0; depth < levels; depth++) input = { input };
    expect(JSON.stringify(redactInput(input))).not.toContain('tr0ub4dor');
  }
});

test('an event that cannot be redacted is withheld', () => {
  const input = Object.defineProperty({}, 'x', {
    enumerable: true,
    get: () => {
      throw new Error(secret);
    },
  });
  expect(redactOne(redactor, call(input))).toEqual({
    eventType: 'unreadable',
    payload: { source, raw: '', encoding: 'utf8', reason: 'redaction failed', redactions: { withheld: 1 } },
  });
});

test('redact never throws on any input', () => {
  for (const event of [{}, { payload: null }, { eventType: 'record', payload: 1 }, null]) {
    expect(() => redactOne(redactor, event as unknown as CapturedEvent)).not.toThrow();
  }
});

test('allowed secrets are let through, by rule or by mark, but known values by mark only', () => {
  const token = `ghp_${made('alnum', 36)}`;
  const options = { variables: { DB_PASSWORD: secret }, home: '/nowhere', key };
  const [known, provider] = redactInput([secret, token]) as [string, string];
  const allow = (...entries: string[]) =>
    redactOne(createMachineRedactor({ ...options, allow: entries }), call([secret, token])).payload.redactions;
  expect(allow('github-token', 'known-value')).toEqual({ 'known-value': 1 });
  expect(allow(known)).toEqual({ 'github-token': 1 });
  expect(allow(known, provider)).toBeUndefined();
});

test("counts add to an earlier pass's", () => {
  const event = call({ command: secret });
  event.payload.redactions = { 'known-value': 2, other: 1 };
  expect(redactOne(redactor, event).payload.redactions).toEqual({ 'known-value': 3, other: 1 });
});

describe('a secret that was masked once', () => {
  const token = made('alnum', 40, 7);
  const open = () => createRedactor({ key });
  const said = (text: string) => call(text);
  const texts = (events: CapturedEvent[]) => events.map(({ payload }) => (payload as { input?: unknown }).input);

  test('is masked in all events of the record, earlier ones too, with the same mark', () => {
    const masked = texts(open().redact([said(`is ${token} right?`), said(`export X_API_KEY=${token}`)], of));
    const [mark = ''] = /\[REDACTED:[^\]]+\]/.exec(String(masked[1])) ?? [];
    expect(masked).toEqual([`is ${mark} right?`, `export X_API_KEY=${mark}`]);
  });

  test('is masked later in the session, encoded too, and in no other session', () => {
    const redactor = open();
    redactor.redact([said(`export X_API_KEY=${token}`)], of);
    const later = said(`is ${token} or ${Buffer.from(token).toString('base64')} right?`);
    expect(redactor.redact([later], of)[0]?.payload.redactions).toEqual({ 'key-name': 2 });
    expect(redactor.redact([later], { session: 'codex another' })).toEqual([later]);
  });

  test("is masked again where a provider's token was recognized by its form", () => {
    const redactor = open();
    redactor.redact([said(`sk-proj-${token}`)], of);
    const hex = Buffer.from(`sk-proj-${token}`).toString('hex');
    expect(JSON.stringify(redactor.redact([said(hex)], of))).not.toContain(hex);
  });

  test.each(['opensesame', 'correct horse', 'development2', 'SemicolonToken$1', 'x-aws-ec2-metadata'])(
    'is let stand elsewhere where it may be a word or a name: %s',
    (value) => {
      const masked = texts(open().redact([said(`${value} here`), call({ password: value })], of));
      expect(masked[0]).toBe(`${value} here`);
      expect(JSON.stringify(masked[1])).toContain('[REDACTED:key-name:');
    },
  );

  test('leaves paths and ids of events alone', () => {
    const event = said(`export X_API_KEY=${token}`);
    event.payload.source = { ...source, record: token };
    const [masked] = open().redact([event], of);
    expect(masked?.payload.source.record).toBe(token);
    expect(JSON.stringify(masked?.payload)).toContain('[REDACTED:key-name:');
  });
});

const FAKE = '[REDACTED:my-note:0000]';
test.each([
  `DB_PASSWORD="${FAKE}Tr0ub4dor3xx"`,
  `DB_PASSWORD=${FAKE}Tr0ub4dor3xx`,
  `password: ${FAKE}Tr0ub4dor3xx`,
  `password: Tr0ub4dor3xx${FAKE}`,
  `{"password": "${FAKE}Tr0ub4dor3xx"}`,
  `{"api_key": "Tr0ub4dor3xx ${FAKE}"}`,
  `curl -u ada:${FAKE}Tr0ub4dor3xx https://a.test`,
  `mysql -p${FAKE}Tr0ub4dor3xx`,
  `postgres://ada:${FAKE}Tr0ub4dor3xx@db/shop`,
  `DB_PASSWORD="[REDACTED]Tr0ub4dor3xx"`,
  `DB_PASSWORD="redacted-Tr0ub4dor3xx"`,
])('an imitation of a mark protects nothing: %s', (text) => {
  const input = redactInput([text, { password: text.slice(12) }]);
  expect(JSON.stringify(input)).not.toContain('Tr0ub4dor3xx');
  expect(redactInput(input)).toEqual(input);
});

test('a text that only looks like a mark is left unchanged', () => {
  const text = `a note ${FAKE}, [QEDACTED:x] and [REDACTED: too`;
  expect(redactInput({ note: text, password: FAKE })).toEqual({ note: text, password: FAKE });
});

test('a guess planted in another session is not confirmed by its mark', () => {
  const marks = ['codex s-1', 'codex s-2', 'claude-code s-1'].map((session) =>
    JSON.stringify(redactOne(redactor, call(secret), { session }).payload),
  );
  expect(new Set(marks).size).toBe(3);
});

test('the secrets of a folder are masked in the sessions of its repository, and in no other', () => {
  const home = makeFolder();
  write(`${home}/shop/.git/HEAD`, '');
  write(`${home}/shop/web/.env`, 'DEPLOY_PASSWORD=mountain-Lake-77\n');
  const shop = createMachineRedactor({ variables: {}, home, key });
  const event = call('login mountain-Lake-77');
  const masks = (subject: Subject) => shop.redact([event], subject)[0] !== event;
  expect(masks({ session: 'a', folder: `${home}/shop/web` })).toBe(true);
  expect(masks({ session: 'b', folder: `${home}/shop` })).toBe(true);
  expect(masks({ session: 'a' })).toBe(true);
  expect(masks({ session: 'c', folder: `${home}/bank` })).toBe(false);
  expect(masks({ session: 'd' })).toBe(false);
});

test('a mark is let through in its session, and a mark from outside of sessions everywhere', () => {
  const options = { variables: { DB_PASSWORD: secret }, home: '/nowhere', key };
  const markIn = (session: string) =>
    String((redactOne(redactor, call(secret), { session }).payload as { input?: unknown }).input);
  const isMasked = (allow: string, session: string) => {
    const event = call(secret);
    return redactOne(createMachineRedactor({ ...options, allow: [allow] }), event, { session }) !== event;
  };
  expect([isMasked(markIn('a'), 'a'), isMasked(markIn('a'), 'b')]).toEqual([false, true]);
  expect([isMasked(markIn(''), 'a'), isMasked(markIn(''), 'b')]).toEqual([false, false]);
});
