import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Agent, JsonObject } from '../cli/agents/agent.ts';
import { AGENTS } from '../cli/agents/all.ts';
import { serializeEvent } from '../cli/read/mask.ts';
import { parseRecord } from '../cli/read/record.ts';
import { transcriptsBelow } from '../cli/test/agents/corpus.ts';
import { createMachineRedactor, redactOne } from '../cli/test/redacting.ts';
import { patience, runs } from '../contract/test/runs.ts';

/**
 * Plants a value of this machine into every string and every key of every agent's fixtures, in each of the encodings below.
 * None of them may be in the spool. By default, this is a sample; `CAPTURE_TEST_CORPUS=all` plants everywhere.
 */
const SAMPLE = 150;

/** One with every character that some format escapes, and one with the characters of a token. */
const SECRETS = ['Wähle "Regen"\\& <7>\'s $x/+=', 'zK9vQ2mX7bT4nR8wL3pD6hJ1'];

const escapeJson = (text: string) => JSON.stringify(text).slice(1, -1);
const toUnicode = (text: string) =>
  [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const escapeBytes = (text: string, lead: string) =>
  [...Buffer.from(text)].map((byte) => `${lead}${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('');
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The part of a base64 text that has only bits of the secret. The letters at its edges also have bits of its neighbours. */
const inner = (lead: string, secret: string, encode = base64) =>
  encode(`${lead}${secret}`).slice(Math.ceil((lead.length * 8) / 6), -4);

const ENCODINGS: { [name: string]: (secret: string) => { written: string; telltale?: string } } = {
  plain: (secret) => ({ written: secret }),
  JSON: (secret) => ({ written: escapeJson(secret) }),
  'JSON twice': (secret) => ({ written: escapeJson(escapeJson(secret)) }),
  'JSON of ASCII': (secret) => ({ written: toUnicode(secret) }),
  address: (secret) => ({ written: encodeURIComponent(secret) }),
  form: (secret) => ({ written: new URLSearchParams([['', secret]]).toString().slice(1) }),
  base64: (secret) => ({ written: base64(`${secret}\n`), telltale: inner('', secret) }),
  'base64 after one letter': (secret) => ({ written: base64(`:${secret}\n`), telltale: inner(':', secret) }),
  'base64 after two letters': (secret) => ({ written: base64(`u:${secret}\n`), telltale: inner('u:', secret) }),
  base64url: (secret) => ({
    written: Buffer.from(`u:${secret}\n`).toString('base64url'),
    telltale: inner('u:', secret, (text) => Buffer.from(text).toString('base64url')),
  }),
  'base64 twice': (secret) => ({
    written: base64(base64(`${secret}\n`)),
    telltale: base64(inner('', secret)).slice(0, -4),
  }),
  hex: (secret) => ({ written: Buffer.from(secret).toString('hex') }),
  'address, every letter': (secret) => ({ written: escapeBytes(secret, '%') }),
  'shell, every letter': (secret) => ({ written: escapeBytes(secret, '\\x') }),
  'HTML, every letter': (secret) => ({ written: [...secret].map((letter) => `&#${letter.codePointAt(0)};`).join('') }),
  shell: (secret) => ({ written: `'${secret.replaceAll("'", "'\\''")}'`, telltale: secret.replaceAll("'", "'\\''") }),
  'shell with backslashes': (secret) => ({ written: secret.replace(/[^\w@%+=:,./-]/g, '\\$&') }),
  HTML: (secret) => ({
    written: secret
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;'),
  }),
};

/** A place in a record: the path to a string, or to an object that gets one more key. */
interface Spot {
  path: readonly string[];
  isKey: boolean;
}

function findSpots(value: unknown, path: string[] = []): Spot[] {
  if (typeof value === 'string') return [{ path, isKey: false }];
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : [{ path, isKey: true }];
  return [...own, ...Object.entries(value).flatMap(([key, item]) => findSpots(item, [...path, key]))];
}

function plant(line: string, { path, isKey }: Spot, text: string): JsonObject {
  const record = { root: JSON.parse(line) };
  let at: JsonObject = record;
  let last = 'root';
  for (const key of path) {
    at = at[last] as JsonObject;
    last = key;
  }
  if (isKey) (at[last] as JsonObject)[text] = 'x';
  else at[last] = `${at[last]} ${text} .`;
  return record.root as JsonObject;
}

const fixtures = (agent: Agent) =>
  transcriptsBelow(agent, fileURLToPath(new URL(`../cli/test/agents/fixtures/${agent.id}`, import.meta.url))).flatMap(
    ({ lines, origin, path }) => lines.map((line) => ({ line, origin, path })),
  );

const redactor = createMachineRedactor({ variables: {}, home: '/nowhere', secrets: SECRETS, key: new Uint8Array(32) });

/** All readable parts of a JSON text: the text, and its decoded strings and keys. */
function readAll(json: string): string {
  const texts = [json];
  JSON.parse(json, (key, value) => {
    texts.push(key);
    if (typeof value === 'string') texts.push(value);
    return value;
  });
  return texts.join('\n');
}

describe.each(AGENTS.map((agent) => [agent.id, agent] as const))('%s', (_id, agent) => {
  const records = fixtures(agent);
  const spots = records.flatMap((record) => findSpots(JSON.parse(record.line)).map((spot) => ({ record, spot })));
  const encodings = Object.entries(ENCODINGS);

  function check({ record, spot }: (typeof spots)[number], [, encode]: (typeof encodings)[number], secret: string) {
    const { written, telltale = written } = encode(secret);
    const planted = plant(record.line, spot, written);
    const place = { origin: record.origin, file: record.path, position: 0 };
    const events = parseRecord(agent, planted, place) ?? [];
    const spooled = events.map((event) => redactOne(redactor, event)).flatMap(serializeEvent);
    expect(spooled.length).toBeGreaterThan(0);
    for (const json of spooled) {
      const readable = readAll(json);
      expect(readable.includes(telltale), readable).toBe(false);
      expect(readable.includes(secret)).toBe(false);
    }
  }

  test(
    'no planted value is spooled',
    () => {
      expect(spots.length).toBeGreaterThan(0);
      if (process.env.CAPTURE_TEST_CORPUS === 'all') {
        let tries = 0;
        for (const spot of spots)
          for (const encoding of encodings)
            for (const secret of SECRETS) {
              check(spot, encoding, secret);
              tries++;
            }
        console.log(`${agent.id}: ${records.length} records, ${spots.length} places, ${tries} tries`);
        return;
      }
      const tries = fc.tuple(fc.constantFrom(...spots), fc.constantFrom(...encodings), fc.constantFrom(...SECRETS));
      fc.assert(
        fc.property(tries, ([spot, encoding, secret]) => check(spot, encoding, secret)),
        runs(SAMPLE),
      );
    },
    patience(600_000),
  );

  test('a planted value would be spooled without masking', () => {
    const [first] = spots.filter(({ spot }) => !spot.isKey);
    if (first === undefined) throw new Error('no string');
    const planted = plant(first.record.line, first.spot, SECRETS[1] as string);
    const place = { origin: first.record.origin, file: first.record.path, position: 0 };
    const spooled = (parseRecord(agent, planted, place) ?? []).flatMap(serializeEvent).map(readAll);
    expect(spooled.some((text) => text.includes(SECRETS[1] as string))).toBe(true);
  });
});

test('every agent has fixtures', () => {
  const folders = readdirSync(fileURLToPath(new URL('../cli/test/agents/fixtures', import.meta.url)));
  expect(AGENTS.map(({ id }) => id).filter((id) => !folders.includes(id))).toEqual([]);
});
