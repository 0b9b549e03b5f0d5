import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentDigest } from '../../../contract/chain.ts';
import { runs } from '../../../contract/test/runs.ts';
import { isPart, joinParts, type Part, splitPayload } from '../../../transcript/parts.ts';
import { pack } from '../../log/codec.ts';
import { decodeFrame, encodeFrame } from '../../log/frame.ts';
import type { StoredAppend } from '../../store/events.ts';
import { EventMasker } from './event-masker.ts';
import { findText } from './finder.ts';

const MARK = '[REDACTED:manual:00ff]';
const MARKER = 'kQ"7\\n/ü\n𝒳k';

interface Event {
  eventType: string;
  payload: string;
}

/** Appends with the events, in the codecs that the service uses. */
function appendsOf(events: readonly Event[], lengths: readonly number[]): StoredAppend[] {
  const appends: StoredAppend[] = [];
  for (let from = 0; from < events.length; ) {
    const some = events.slice(from, from + (lengths[appends.length % lengths.length] ?? 1));
    appends.push({
      ...{ first_sequence: from + 1, last_sequence: from + some.length, append_id: `a${from}`, created_at: 1 },
      ...(appends.length % 2 === 0 ? packed(some) : asSent(some)),
    });
    from += some.length;
  }
  return appends;
}

const packed = (events: readonly Event[]) =>
  pack(encodeFrame(events.map(({ eventType, payload }) => ({ eventType, payload: Buffer.from(payload) }))));

function asSent(events: readonly Event[]) {
  const plain = Buffer.from(events.map(({ payload }) => payload).join(','));
  let at = 0;
  const framed = events.map(({ eventType, payload }) => {
    const bytes = plain.subarray(at, at + Buffer.byteLength(payload));
    at += bytes.byteLength + 1;
    return { eventType, payload: bytes };
  });
  return encodeFrame(framed, { zstd: zstdCompressSync(plain), plain });
}

const eventsIn = (append: Pick<StoredAppend, 'codec' | 'body'>): Event[] =>
  decodeFrame(append).map(({ eventType, payload }) => ({ eventType, payload: Buffer.from(payload).toString('utf8') }));

function maskAll(appends: readonly StoredAppend[], text: string) {
  const masker = new EventMasker(findText(text, MARK));
  const masked = [...appends.flatMap((append) => masker.add(append)), ...masker.end()];
  const byFirst = new Map(masked.map((one) => [one.append.first_sequence, one]));
  const events = appends.flatMap((append) => eventsIn(byFirst.get(append.first_sequence) ?? append));
  return { events, changed: masked.flatMap((one) => one.events) };
}

const filler = fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', 'é', '\n', '𝒴'), maxLength: 40 });
const told = fc.array(fc.oneof(filler, fc.constant(MARKER)), { minLength: 1, maxLength: 5 });
const plain = told.map((words) => ({ text: words.join('|') }));
const nested = told.map((words) => ({ input: JSON.stringify({ command: JSON.stringify(words.join('|')) }) }));

test('a text is masked in all events, even if it is split over parts, and the rest is unchanged', () => {
  const source = { agent: 'codex', session: 's', file: '/f', position: 1 };
  fc.assert(
    fc.property(
      fc.array(fc.record({ payload: fc.oneof(plain, nested), bytes: fc.integer({ min: 200, max: 300 }) }), {
        minLength: 1,
        maxLength: 8,
      }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
      (records, lengths) => {
        const events = records.flatMap(({ payload, bytes }, index): Event[] => {
          const json = JSON.stringify(payload);
          const isWhole = index % 2 === 0;
          if (isWhole) return [{ eventType: 'user.message', payload: json }];
          const parts = splitPayload({ ...source, position: index }, json, bytes);
          return parts.map((part) => ({ eventType: 'user.message', payload: JSON.stringify(part) }));
        });
        const after = maskAll(appendsOf(events, lengths), MARKER).events;
        expect(after).toHaveLength(events.length);
        const whole = wholeOf(after);
        expect(whole).toEqual(records.map(({ payload }) => JSON.parse(replaced(JSON.stringify(payload)))));
        for (const [index, event] of after.entries()) {
          const before = events[index] as Event;
          if (!isTouched(before, event)) expect(event).toEqual(before);
        }
      },
    ),
    runs(300),
  );
});

const isTouched = (before: Event, after: Event) => before.payload !== after.payload;

/** The expected JSON: the marker at the depth it was planted in. */
function replaced(json: string): string {
  const escaped = (text: string) => JSON.stringify(text).slice(1, -1);
  const once = escaped(MARKER);
  return json.replaceAll(escaped(escaped(once)), MARK).replaceAll(once, MARK);
}

function wholeOf(events: readonly Event[]): unknown[] {
  const whole: unknown[] = [];
  let run: Part[] = [];
  for (const { payload } of events) {
    const value: unknown = JSON.parse(payload);
    if (!isPart(value)) {
      whole.push(value);
      continue;
    }
    run.push(value);
    if (run.length < value.of) continue;
    whole.push(joinParts(run));
    run = [];
  }
  expect(run).toEqual([]);
  return whole;
}

test('a masked event has the content digest of its original and the number of masked places', () => {
  const payload = JSON.stringify({ text: 'secret1 and secret1', n: 1.0 });
  const { events, changed } = maskAll(appendsOf([{ eventType: 'notice', payload }], [1]), 'secret1');
  expect(events).toEqual([{ eventType: 'notice', payload: JSON.stringify({ text: `${MARK} and ${MARK}`, n: 1 }) }]);
  expect(changed).toEqual([{ sequence: 1, content: contentDigest('notice', payload), count: 2 }]);
});

test('a text is masked in the middle of a payload with more parts than are searched together', () => {
  const json = JSON.stringify({ text: `${'x'.repeat(20_000)}${MARKER}${'y'.repeat(20_000)}${MARKER}` });
  const parts = splitPayload({ agent: 'codex', session: 's', file: '/f', position: 1 }, json, 260);
  expect(parts.length).toBeGreaterThan(130);
  const events = parts.map((part) => ({ eventType: 'tool.result', payload: JSON.stringify(part) }));
  for (const lengths of [[50], [7]]) {
    expect(wholeOf(maskAll(appendsOf(events, lengths), MARKER).events)).toEqual([
      { text: `${'x'.repeat(20_000)}${MARK}${'y'.repeat(20_000)}${MARK}` },
    ]);
  }
});

test('a text is masked that spans more parts than are searched together at least', () => {
  const text = Array.from({ length: 200 }, (_, n) => String.fromCharCode(97 + (n % 26))).join('');
  const source = { agent: 'codex', session: 's', file: '/f', position: 1 };
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 3_000 }),
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      (before, length, isNested) => {
        const said = `${'x'.repeat(before)}${text}${'y'.repeat(3_000)}`;
        const json = JSON.stringify({ text: isNested ? JSON.stringify({ said }) : said });
        const slices = json.match(new RegExp(`.{1,${length}}`, 'gs')) ?? [];
        const events = slices.map((slice, index) => ({
          eventType: 'tool.result',
          payload: JSON.stringify({ source, part: index + 1, of: slices.length, json: slice }),
        }));
        const [whole] = wholeOf(maskAll(appendsOf(events, [50]), text).events);
        const masked = said.replace(text, MARK);
        expect(whole).toEqual({ text: isNested ? JSON.stringify({ said: masked }) : masked });
      },
    ),
    runs(8),
  );
});

test('parts that are too many and too short for their text are reported', () => {
  const [text, most] = ['abcdefgh'.repeat(20), 100];
  const eventsOf = (filler: number) => {
    const slices = [...text].flatMap((character) => [character, ...Array.from({ length: filler }, () => '')]);
    return slices.map((json, index) => ({
      eventType: 'notice',
      payload: JSON.stringify({ source: {}, part: index + 1, of: slices.length + 1, json }),
    }));
  };
  const maskIn = (filler: number, limit?: number) => {
    const masker = new EventMasker(findText(text, MARK), limit);
    const appends = appendsOf(eventsOf(filler), [50]);
    const masked = appends.flatMap((append) => masker.add(append));
    return { found: [...masked, ...masker.end()].length > 0, isComplete: masker.isComplete };
  };
  expect(maskIn(1)).toEqual({ found: true, isComplete: true });
  expect(maskIn(1, most)).toEqual({ found: false, isComplete: false });
});

test.each(['hunter', 'my.hunter', 'HunterX', 'note: hunter'])('a text in the event type %s is masked', (eventType) => {
  const text = eventType.includes('Hunter') ? 'Hunter' : 'hunter';
  const { events, changed } = maskAll(appendsOf([{ eventType, payload: '{}' }], [1]), text);
  expect(events).toEqual([{ eventType: eventType.replace(text, MARK), payload: '{}' }]);
  expect(changed).toMatchObject([{ count: 1 }]);
});

test('the types of the vocabulary stay, because readers need them', () => {
  const event = { eventType: 'user.message', payload: '{"n":1}' };
  expect(maskAll(appendsOf([event], [1]), 'message').events).toEqual([event]);
});

test('the last parts of an incomplete payload are masked, too', () => {
  const source = { agent: 'codex', session: 's', file: '/f', position: 1 };
  const events = splitPayload(source, JSON.stringify({ text: `${'x'.repeat(90)}${MARKER}${'y'.repeat(900)}` }), 200)
    .slice(0, -1)
    .map((part) => ({ eventType: 'tool.result', payload: JSON.stringify(part) }));
  const text = maskAll(appendsOf(events, [2]), MARKER)
    .events.map(({ payload }) => (JSON.parse(payload) as Part).json)
    .join('');
  expect(text).toContain(`x${MARK}y`);
});
