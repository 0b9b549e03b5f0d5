import { bomb, deepPayload, deepUnknown, largestBatches, manyNumbers, manyObjects } from './bodies.ts';
import { dropAfter, gzip, holdBody, postRaw, readSlowly, requestText, type Status, sendRaw, zstd } from './requests.ts';
import type { HostileStore } from './store.ts';

/** One kind of expensive request. */
export interface Case {
  name: string;
  /** Sends all requests, and resolves when the service has handled them. */
  run: () => Promise<Status | Status[]>;
}

export interface Target {
  port: number;
  store: HostileStore;
  /** Token of a member of the organization. */
  token: string;
  /** Token signed with another key than the issuer's. */
  forgedToken: string;
}

/** All cases, prepared before the measurement. Cases that read underived sessions come first. */
export function createCases({ port, store, token, forgedToken }: Target): Case[] {
  const { secret, open, long, short, numbers } = store;
  const own = '/v1/organizations/me/sessions';
  const path = (session = open[0]) => `/v1/sessions/${session}/events`;
  const post = (body: Buffer, encoding?: string, session?: string) =>
    postRaw(port, path(session), secret, body, encoding);
  const read = (method: string, url: string) => sendRaw(port, [requestText(method, url, token)]);
  const atOnce = (count: number, work: (n: number) => Promise<Status>) =>
    Promise.all(Array.from({ length: count }, (_, n) => work(n)));
  const posted = (name: string, body: Buffer, encoding?: string): Case => ({ name, run: () => post(body, encoding) });
  const whole = `${own}/${long}/events?limit=1000000`;
  const digests = (limit: number) =>
    sendRaw(port, [
      requestText('GET', `/v1/sessions/${numbers}/digests?limit=${limit}&nonce=${'a'.repeat(32)}`, secret),
    ]);

  const numbersBody = zstd(manyNumbers());
  const gzipBomb = gzip(bomb());
  const largest = largestBatches();
  return [
    {
      name: 'figures of 100 sessions of which none are known',
      run: () => read('GET', `/v1/organizations/me/session-summaries?sessionIds=${short.join(',')}`),
    },
    {
      name: 'figures of a session of 60,000 events',
      run: () => read('GET', `/v1/organizations/me/session-summaries?sessionIds=${long}`),
    },
    posted('13 MB of numbers instead of events, as zstd', numbersBody, 'zstd'),
    posted('13 MB of brackets in an unknown field, as zstd', zstd(deepUnknown()), 'zstd'),
    posted('13 MB of objects in an unknown field, as zstd', zstd(manyObjects()), 'zstd'),
    { name: '16 of the first at once', run: () => atOnce(16, (n) => post(numbersBody, 'zstd', open[n])) },
    posted('a bomb of 800 MB, as gzip', gzipBomb, 'gzip'),
    posted('a bomb of 800 MB, as zstd', zstd(bomb()), 'zstd'),
    { name: '16 bombs at once', run: () => atOnce(16, (n) => post(gzipBomb, 'gzip', open[n])) },
    posted('a payload of 128,000 brackets', deepPayload()),
    posted('50 × 256 KiB of prose, plain', largest.prose),
    posted('50 × 256 KiB of prose, as zstd', zstd(largest.prose), 'zstd'),
    posted('50 × 256 KiB of noise, plain', largest.noise),
    posted('50 × 256 KiB of noise, as zstd', zstd(largest.noise), 'zstd'),
    posted('50 × 256 KiB of escapes, as zstd', zstd(largest.escapes), 'zstd'),
    posted('50 × 256 KiB of small objects, as zstd', zstd(largest.fields), 'zstd'),
    { name: '8 × 50 × 256 KiB of prose at once', run: () => atOnce(8, (n) => post(largest.prose, undefined, open[n])) },
    { name: 'GET of a page of 60,000 events', run: () => read('GET', whole) },
    { name: 'HEAD of a page of 60,000 events', run: () => read('HEAD', whole) },
    { name: '5 HEADs of it at once', run: () => atOnce(5, () => read('HEAD', whole)) },
    {
      name: '8 slow readers of it',
      run: () => atOnce(8, () => readSlowly(port, requestText('GET', whole, token), 3000)),
    },
    { name: 'digests of 50 × 256 KiB of numbers', run: () => digests(50) },
    {
      name: 'a session list at offset 99,900 of 100,000, 20 times',
      run: () => sequence(20, () => read('GET', `${own}?cursor=${Buffer.from('o:99900').toString('base64url')}`)),
    },
    {
      name: '2,000 unknown secrets on 50 connections',
      run: () => atOnce(50, (n) => pipeline(40, (m) => requestText('GET', '/v1/secret', `sk_live_${n}x${m}`))),
    },
    {
      name: '200 live streams opened and dropped',
      run: () => atOnce(200, (n) => dropAfter(port, requestText('GET', '/v1/organizations/me/live', token), n * 3)),
    },
    {
      name: '500 windows of 1,000 events in one write',
      run: () =>
        pipeline(500, (n) => requestText('GET', `${own}/${long}/window?from=${n * 100 + 1}&limit=1000`, token)),
    },
    {
      name: '300 forged tokens at once',
      run: () => atOnce(300, () => sendRaw(port, [requestText('GET', '/v1/me', forgedToken)])),
    },
    {
      name: '40 bodies of 13 MB of nobody, less a byte',
      run: () => atOnce(40, () => holdBody(port, path(), 13_000_000, 3000)),
    },
    {
      name: 'lists of 500 machines, 200 in one write',
      run: () => pipeline(200, () => requestText('GET', '/v1/organizations/me/environments', token)),
    },
  ];

  /** Sends many requests in one write. */
  function pipeline(count: number, request: (n: number) => string): Promise<Status> {
    return sendRaw(port, [Array.from({ length: count }, (_, n) => request(n)).join('')]);
  }
}

async function sequence(count: number, work: () => Promise<Status>): Promise<Status[]> {
  const answers: Status[] = [];
  for (let n = 0; n < count; n++) answers.push(await work());
  return answers;
}
