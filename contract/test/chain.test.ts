import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Chain, type ChainHead, type CheckedEvent, chainStart, checkChain } from '../chain.ts';
import { keyIdOf, openEnvelope, signStatement } from '../dsse.ts';
import { newChainKey, saltKeysOf, withoutSalts } from '../salts.ts';
import { headAfter } from './heads.ts';
import { patience, runs } from './runs.ts';

const OURS = chainStart('codex', 'ours');
const THEIRS = chainStart('codex', 'theirs');
const SALT_KEYS = saltKeysOf(newChainKey());

function chainOf(events: readonly CheckedEvent[], start: ChainHead): Chain {
  return { start: start.hash, head: headAfter(start, events, SALT_KEYS), masked: new Map(), saltKeys: SALT_KEYS };
}

const renumber = (events: readonly CheckedEvent[]) => events.map((event, at) => ({ ...event, sequence: at + 1 }));

/** Events with few different texts, so that equal events occur next to each other. */
const EVENTS = fc
  .array(
    fc.record({
      sequence: fc.constant(0),
      eventType: fc.constantFrom('notice', 'user.message', 'tool.result'),
      payload: fc.constantFrom('{}', '{"n":1}', '{"text":"one"}', '{"text":"two"}', '{"text":"ünï"}'),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map(renumber);

type Change = (events: CheckedEvent[], at: number, other: number, foreign: readonly CheckedEvent[]) => CheckedEvent[];

/** Changes that a person with the events, but without the keys, can make. */
const CHANGES: Record<string, Change> = {
  edit: (events, at) =>
    events.map((event, index) => (index === at ? { ...event, payload: `${event.payload} ` } : event)),
  retype: (events, at) =>
    events.map((event, index) => (index === at ? { ...event, eventType: `${event.eventType}.x` } : event)),
  drop: (events, at) => events.toSpliced(at, 1),
  insert: (events, at, other) => events.toSpliced(at, 0, events[other] as CheckedEvent),
  swap: (events, at, other) => events.with(at, events[other] as CheckedEvent).with(other, events[at] as CheckedEvent),
  cut: (events, at) => events.slice(0, at),
  'cut off the beginning': (events, at) => events.slice(at + 1),
  'take from another session': (events, at, _, foreign) =>
    events.with(at, foreign[at % foreign.length] as CheckedEvent),
};

const saying = (events: readonly CheckedEvent[]) => JSON.stringify(events.map((one) => [one.eventType, one.payload]));

test('all 10,000 changes of events are found, renumbered or not, without a false alarm', {
  timeout: patience(60_000),
}, () => {
  let changed = 0;
  const tried = { ...runs(10_500), maxSkipsPerRun: 100 };
  fc.assert(
    fc.property(
      ...([EVENTS, EVENTS, fc.constantFrom(...Object.keys(CHANGES)), fc.nat(), fc.nat(), fc.boolean()] as const),
      (events, foreign, name, first, second, isRenumbered) => {
        const chain = chainOf(events, OURS);
        if (checkChain(chain, events) !== undefined) throw new Error('a false alarm');
        const change = CHANGES[name] as Change;
        const wrong = change([...events], first % events.length, second % events.length, foreign);
        const given = isRenumbered ? renumber(wrong) : wrong;
        // Swapping two equal events changes nothing.
        fc.pre(saying(given) !== saying(events));
        if (checkChain(chain, given) === undefined) throw new Error(`not found: ${name}`);
        changed++;
      },
    ),
    tried,
  );
  expect(changed).toBeGreaterThanOrEqual(runs(10_000).numRuns);
});

test('events moved to another session are found, although all of them are there', () => {
  fc.assert(
    fc.property(EVENTS, (events) => {
      expect(checkChain({ ...chainOf(events, OURS), start: THEIRS.hash }, events)).toEqual(expect.any(String));
    }),
    runs(500),
  );
});

test('an event whose salt is missing is not taken for checked', () => {
  const events = renumber([{ sequence: 0, eventType: 'notice', payload: '{}' }]);
  const chain = { ...chainOf(events, OURS), saltKeys: withoutSalts(SALT_KEYS, [1]) };
  expect(checkChain(chain, events)).toBe('The salt of event 1 is missing.');
});

test('checking a chain reads each event once, for any number of events', () => {
  let read = 0;
  const events = Array.from({ length: 5_000 }, (_, at) => ({
    sequence: at + 1,
    eventType: 'notice',
    get payload() {
      read++;
      return `{"n":${at}}`;
    },
  }));
  const chain = chainOf(events, OURS);
  read = 0;
  expect(checkChain(chain, events)).toBeUndefined();
  expect(read).toBe(5_000);
});

test('a statement opens only with its own signature and its own type', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const envelope = signStatement('a/b', { text: 'é' }, privateKey);
  expect(openEnvelope(envelope, 'a/b')).toEqual({ statement: { text: 'é' }, keyid: keyIdOf(privateKey) });
  expect(() => openEnvelope(envelope, 'a/c')).toThrow('it is no a/c');
  expect(() => openEnvelope({ ...envelope, payloadType: 'a/c' }, 'a/c')).toThrow('its signature does not fit');
  const payload = Buffer.from('{"text":"e"}').toString('base64');
  expect(() => openEnvelope({ ...envelope, payload }, 'a/b')).toThrow('its signature does not fit');
  expect(() => openEnvelope({ ...envelope, signatures: [] }, 'a/b')).toThrow('exactly one');
  const keyid = keyIdOf(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey);
  const signatures = envelope.signatures.map((one) => ({ ...one, keyid }));
  expect(() => openEnvelope({ ...envelope, signatures }, 'a/b')).toThrow('its signature does not fit');
});
