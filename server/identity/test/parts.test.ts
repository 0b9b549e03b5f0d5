import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../test/engines.ts';
import { addressesOf } from '../embedded/addresses.ts';
import { Attempts, type Count, fromAddress } from '../embedded/attempts.ts';
import { html, toText } from '../embedded/html.ts';
import { createPasswords } from '../embedded/passwords.ts';
import { fetchJson } from '../fetch-json.ts';

describe('html', () => {
  test('escapes text and attributes, keeps its own markup, and leaves out absent values', () => {
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

  const takeAll = async (count: number, attempt: (index: number) => Count[]) => {
    const attempts = new Attempts(store);
    const waits: number[] = [];
    for (let index = 0; index < count; index++) waits.push(await attempts.take(...attempt(index)));
    return waits;
  };
  const allowed = (waits: number[]) => waits.filter((wait) => wait === 0).length;

  test('are counted by key, for any text, and refused for the rest of a quarter of an hour', async () => {
    for (const key of ['a', `\0 ${'x'.repeat(10_000)}`]) {
      const waits = await takeAll(4, () => [['mail', key]]);
      expect(waits.slice(0, 3)).toEqual([0, 0, 0]);
      expect(waits[3]).toBeGreaterThan(880);
      expect(waits[3]).toBeLessThanOrEqual(900);
    }
    expect(await takeAll(1, () => [['mailbox', 'a']])).toEqual([0]);
  });

  test('are forgotten or given back', async () => {
    const attempts = new Attempts(store);
    for (let index = 0; index < 3; index++) await attempts.take(['mail', 'b']);
    await attempts.forget(['mail', 'b']);
    for (let index = 0; index < 3; index++) expect(await attempts.take(['mail', 'b'])).toBe(0);
    await attempts.giveBack(['mail', 'b']);
    expect(await attempts.take(['mail', 'b'])).toBe(0);
    expect(await attempts.take(['mail', 'b'])).toBeGreaterThan(0);
  });

  test('that are concurrent are all counted', async () => {
    const attempts = new Attempts(store);
    const waits = await Promise.all(Array.from({ length: 30 }, () => attempts.take(['guess', 'c'])));
    expect(allowed(waits)).toBe(10);
  });

  test.each([
    ['IPv6 networks of one /48', (index: number) => `2001:db8:9:${index.toString(16)}::1`],
    ['addresses of one IPv4 /24', (index: number) => `198.51.100.${index % 250}`],
  ])('from the %s are refused after four hundred', async (_name, address) => {
    expect(allowed(await takeAll(410, (index) => fromAddress(address(index))))).toBe(400);
  });

  test('that one address makes too often do not count against neighbouring addresses', async () => {
    await takeAll(500, () => fromAddress('203.0.113.1'));
    expect(await takeAll(1, () => fromAddress('203.0.113.2'))).toEqual([0]);
  });
});

describe('passwords', () => {
  const passwords = createPasswords({ log2N: 4, r: 1, p: 1 });
  const STRANGER = { address: '192.0.2.7', isKnown: false };

  test('match themselves in every composed form, and nothing else', async () => {
    const encoded = await passwords.hash('e\u0301t\u00e9 12345', STRANGER);
    expect(await passwords.matches('\u00e9te\u0301 12345', encoded, STRANGER)).toBe(true);
    expect(await passwords.matches('ete 12345', encoded, STRANGER)).toBe(false);
    expect(await passwords.matches('', encoded, STRANGER)).toBe(false);
    expect(await passwords.matches('anything', undefined, STRANGER)).toBe(false);
    expect(await passwords.hash('e\u0301t\u00e9 12345', STRANGER)).not.toBe(encoded);
  });

  test('hashed with other parameters still match', async () => {
    const encoded = await createPasswords({ log2N: 5, r: 2, p: 1 }).hash('correct horse', STRANGER);
    expect(await passwords.matches('correct horse', encoded, STRANGER)).toBe(true);
  });

  test('wait for each other, but not forever', async () => {
    const work = Array.from({ length: 110 }, (_, index) =>
      passwords.hash('x', { address: `192.0.${index}.1`, isKnown: false }),
    );
    const outcomes = await Promise.allSettled(work);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(28);
    expect(refused[0]).toMatchObject({ reason: { code: 'service_unavailable', retryAfter: 10 } });
    expect(await passwords.hash('x', STRANGER)).toMatch(/^scrypt\$4\$1\$1\$/);
  });

  test('from five networks leave room for a sixth network and for known browsers', async () => {
    // One at a time, so that they end in the order in which they begin: on a busy machine, one of two could be delayed.
    const inTurn = createPasswords({ log2N: 4, r: 1, p: 1 }, 1);
    const done: string[] = [];
    const hash = (name: string, address: string, isKnown = false) =>
      inTurn.hash('x', { address, isKnown }).then(
        () => void done.push(name),
        () => void done.push('refused'),
      );
    const flood = Array.from({ length: 200 }, (_, index) => hash('flood', `192.0.${index % 5}.${index}`));
    const others = [hash('sixth', '192.0.9.1'), hash('known', '192.0.1.1', true)];
    await Promise.all([...flood, ...others]);
    expect(done.filter((name) => name === 'refused')).toHaveLength(201 - 81);
    const order = done.filter((name) => name !== 'refused');
    // One password was already being hashed. The known browser is next, and the sixth network waits for one turn of the five.
    expect(order.indexOf('known')).toBe(1);
    expect(order.indexOf('sixth')).toBeLessThan(8);
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
