import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { CapturedEvent } from '../../../contract/transcript.ts';
import { redactOne } from '../../test/redacting.ts';
import { createRedactor } from '../redactor.ts';
import { made } from '../rules/made.ts';
import { createAside, LIMITS } from './aside.ts';
import type { WorkerCode } from './worker.ts';

const key = new Uint8Array(32);
const secret = 'Sommer/regen+2024!';
const token = `ghp_${made('alnum', 36)}`;
const source = { agent: 'codex', session: 's-1', file: 'a.jsonl', position: 7 };
const base = { variables: {}, home: '/nowhere', key, secrets: [secret] };

const record = (rest: unknown): CapturedEvent => ({ eventType: 'record', payload: { source, rest } });
/** Enough for the budget to ask the clock. */
const busy = (text: string) => record({ text, more: 'token key secret pass auth '.repeat(20) });

/** A clock that each look at moves on: the patience is used up at once, on any machine. */
function hasty() {
  let time = 0;
  return () => {
    time += 1000;
    return time;
  };
}

const withheld = (reason: string) => ({
  eventType: 'unreadable',
  payload: { source, raw: '', encoding: 'utf8', reason, redactions: { withheld: 1 } },
});

test('a record that takes too long here is masked in the worker, to the same marks', () => {
  const exact = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('12345678901234567890');
  const event = record({ text: `${secret} ${token}`, exact, odd: '\ud800', more: 'token key secret '.repeat(40) });
  const here = redactOne(createRedactor(base), event);
  const there = redactOne(createRedactor({ ...base, elapsed: hasty() }), event);
  expect(JSON.stringify(there)).toBe(JSON.stringify(here));
  expect(here.payload.redactions).toEqual({ 'known-value': 1, 'github-token': 1 });
});

test('a record without secrets comes back as it was', () => {
  const event = busy('nothing in it');
  expect(redactOne(createRedactor({ ...base, elapsed: hasty() }), event)).toBe(event);
});

test('the worker is told of secrets that become known, and of what is let through', () => {
  const values = [secret];
  const aside = createAside({ key, allow: ['github-token'], known: () => values });
  const ask = () => aside.redact(busy(`${secret} mountain-Lake-77 ${token}`));
  expect(ask()).toMatchObject({ event: { payload: { redactions: { 'known-value': 1 } } } });
  values.push('mountain-Lake-77');
  expect(ask()).toMatchObject({ event: { payload: { redactions: { 'known-value': 2 } } } });
});

test('a worker that is stuck is ended, its record withheld, and the next record has a new one', () => {
  let starts = 0;
  const limits = { ...LIMITS, recordMs: 300, megabyteMs: 0 };
  const stuck = `
    const { workerData: { port, signal } } = require('node:worker_threads');
    const speak = () => { Atomics.add(signal, 0, 1); Atomics.notify(signal, 0); };
    port.on('message', () => { /(a+)+$/.test('a'.repeat(60) + '!'); port.postMessage({}); speak(); });
    speak();`;
  const code = (): WorkerCode => {
    starts++;
    return { source: stuck };
  };
  const aside = createAside({ key, allow: [], known: () => [], limits, code });
  const redactor = createRedactor({ ...base, elapsed: hasty(), aside });
  expect(redactOne(redactor, busy(secret))).toEqual(withheld('redaction took too long'));
  expect(redactOne(redactor, busy(secret))).toEqual(withheld('redaction took too long'));
  expect(starts).toBe(2);
});

test('a record too deep to be handed over is masked here', () => {
  let deep: unknown = secret;
  for (let depth = 0; depth < 50_000; depth++) deep = [deep];
  let looks = 0;
  // Only the first budget runs out.
  const elapsed = () => (looks++ < 2 ? looks * 100 : 200);
  expect(redactOne(createRedactor({ ...base, elapsed }), record(deep)).payload.redactions).toEqual({
    'known-value': 1,
  });
});

test('a worker that cannot mask its record says so', () => {
  const aside = createAside({ key, allow: [], known: () => [] });
  const event = { eventType: 'record', payload: null } as unknown as CapturedEvent;
  expect(aside.redact(event)).toEqual({ kind: 'failed' });
});

test.each<[string, () => WorkerCode]>([
  [
    'has no code',
    () => {
      throw new Error('no such file');
    },
  ],
  ['never becomes ready', () => ({ source: 'setInterval(() => {}, 1000)' })],
])('where the worker %s, records are masked without it', (_what, code) => {
  const aside = createAside({ key, allow: [], known: () => [], code, limits: { ...LIMITS, startMs: 200 } });
  expect(aside.redact(busy(secret))).toEqual({ kind: 'unavailable' });
  let looks = 0;
  // Only the first budget runs out.
  const elapsed = () => (looks++ < 2 ? looks * 100 : 200);
  const after = redactOne(createRedactor({ ...base, aside, elapsed }), busy(secret));
  expect(after.payload.redactions).toEqual({ 'known-value': 1 });
  // And when it takes far too long there as well, the record is withheld.
  expect(redactOne(createRedactor({ ...base, aside, elapsed: () => looks++ * 1e6 }), busy(secret))).toEqual(
    withheld('redaction took too long'),
  );
});

test('a waiting worker keeps no process alive', () => {
  const script = `
    const { createAside, LIMITS } = await import(${JSON.stringify(new URL('aside.ts', import.meta.url).href)});
    const aside = createAside({ key: new Uint8Array(32), allow: [], known: () => ['${secret}'],
      limits: { ...LIMITS, idleMs: 1e8 } });
    const { event } = aside.redact({ eventType: 'record', payload: { source: {}, rest: '${secret}' } });
    console.log(event.payload.redactions['known-value']);`;
  const options = { encoding: 'utf8', timeout: 15_000, cwd: fileURLToPath(new URL('.', import.meta.url)) } as const;
  expect(execFileSync(process.execPath, ['--input-type=module', '-e', script], options)).toBe('1\n');
});
