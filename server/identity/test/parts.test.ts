import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../test/engines.ts';
import { addressesOf } from '../embedded/addresses.ts';
import { createAttempts } from '../embedded/attempts.ts';
import { html, toText } from '../embedded/html.ts';
import { createPasswords } from '../embedded/passwords.ts';
import { fetchJson } from '../fetch-json.ts';

describe('html', () => {
  test('escapes text and attributes, keeps its own, and leaves out what is not there', () => {
    const inner = html`<b title="${`"'<>&`}">${'<i>'}</b>`;
    expect(toText(html`${inner}${[inner]}${undefined}${false}${0}`)).toBe(`${toText(inner)}${toText(inner)}0`);
    expect(toText(inner)).toBe('<b title="&quot;&#39;&lt;&gt;&amp;">&lt;i&gt;</b>');
  });
});

describe.each(ENGINES)('attempts on %s', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore(engine);
  });
  afterAll(() => store.dispose());

  test('are counted by key, whatever it holds, and refused for the rest of a quarter of an hour', async () => {
    const attempts = createAttempts('two', 2, store);
    for (const key of ['a', `\0 ${'x'.repeat(10_000)}`]) {
      expect([await attempts.take(key), await attempts.take(key)]).toEqual([0, 0]);
      const wait = await attempts.take(key);
      expect(wait).toBeGreaterThan(880);
      expect(wait).toBeLessThanOrEqual(900);
    }
    const others = createAttempts('others', 2, store);
    expect(await others.take('a')).toBe(0);
  });

  test('are forgiven or given back', async () => {
    const attempts = createAttempts('one', 1, store);
    await attempts.take('a');
    await attempts.forgive('a');
    expect(await attempts.take('a')).toBe(0);
    await attempts.giveBack('a');
    expect(await attempts.take('a')).toBe(0);
    expect(await attempts.take('a')).toBeGreaterThan(0);
  });

  test('that come at once are all counted', async () => {
    const attempts = createAttempts('ten', 10, store);
    const waits = await Promise.all(Array.from({ length: 30 }, () => attempts.take('a')));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(10);
  });
});

describe('passwords', () => {
  const passwords = createPasswords({ log2N: 4, r: 1, p: 1 });

  test('match themselves, however they were composed, and nothing else', async () => {
    const encoded = await passwords.hash('e\u0301t\u00e9 12345');
    expect(await passwords.matches('\u00e9te\u0301 12345', encoded)).toBe(true);
    expect(await passwords.matches('ete 12345', encoded)).toBe(false);
    expect(await passwords.matches('', encoded)).toBe(false);
    expect(await passwords.matches('anything', undefined)).toBe(false);
    expect(await passwords.hash('e\u0301t\u00e9 12345')).not.toBe(encoded);
  });

  test('hashed with other parameters still match', async () => {
    const encoded = await createPasswords({ log2N: 5, r: 2, p: 1 }).hash('correct horse');
    expect(await passwords.matches('correct horse', encoded)).toBe(true);
  });

  test('wait for each other, but not without end', async () => {
    const work = Array.from({ length: 110 }, () => passwords.hash('x'));
    const outcomes = await Promise.allSettled(work);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(8);
    expect(refused[0]).toMatchObject({ reason: { code: 'service_unavailable', retryAfter: 10 } });
    expect(await passwords.hash('x')).toMatch(/^scrypt\$4\$1\$1\$/);
  });
});

describe('fetchJson', () => {
  const replies: Record<string, (write: (text: string) => void, end: () => void) => void> = {
    '/whole': (write, end) => {
      write('{"a":');
      write('1}');
      end();
    },
    '/half': (write) => write('{"a":'),
    '/never': () => undefined,
    '/large': (write, end) => {
      write(`"${'x'.repeat(2000)}"`);
      end();
    },
  };

  test.each([
    ['/whole', { a: 1 }],
    ['/half', /timeout|aborted/],
    ['/never', /timeout|aborted/],
    ['/large', /more than 1000 bytes/],
    ['/away', /fetch failed/],
    ['/missing', /answered 404/],
  ])('%s is answered %s', async (path, expected) => {
    const server = createServer((request, response) => {
      const reply = replies[request.url ?? ''];
      if (request.url === '/away') response.writeHead(302, { location: '/whole' }).end();
      else if (!reply) response.writeHead(404).end('{"a":1}');
      else
        reply(
          (text) => response.write(text),
          () => response.end(),
        );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const work = fetchJson(`http://127.0.0.1:${port}${path}`, { fetch, timeoutMs: 150, maxBytes: 1000 });
    if (expected instanceof RegExp) await expect(work).rejects.toThrow(expected);
    else expect(await work).toEqual(expected);
    server.closeAllConnections();
    server.close();
  });
});

describe('addresses', () => {
  test('are under the public one', () => {
    const addresses = addressesOf('https://example.com/capture');
    expect(addresses).toMatchObject({
      issuer: 'https://example.com/capture/oidc',
      path: '/capture/oidc',
      home: 'https://example.com/capture/',
      dashboards: ['https://example.com/capture'],
    });
    expect(addresses.link('join', 'x')).toBe('https://example.com/capture/oidc/join?token=x');
  });

  test('of one machine have two names', () => {
    expect(addressesOf('http://127.0.0.1:4400').dashboards).toEqual(['http://127.0.0.1:4400', 'http://localhost:4400']);
    expect(addressesOf('http://localhost:4400').dashboards[1]).toBe('http://127.0.0.1:4400');
  });
});
