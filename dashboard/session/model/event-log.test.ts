import { expect, test, vi } from 'vitest';
import type { SessionEvent } from '../../../contract/event.ts';
import { type Entry, eachOf } from '../../../transcript/entry/entry.ts';
import { joinAround } from '../../../transcript/entry/join.ts';
import { readEvent } from '../../../transcript/entry/read.ts';
import { splitPayload } from '../../../transcript/parts.ts';
import { createEventLog, type EventLog } from './event-log.ts';

const eventAt = (sequence: number): SessionEvent => ({
  sessionId: 's',
  eventId: `e${sequence}`,
  sequence,
  eventType: 'user.message',
  payload: { text: `prompt ${sequence}` },
  createdAt: '2026-11-21T09:00:00.000Z',
});
const many = (count: number) => Array.from({ length: count }, (_, index) => eventAt(index + 1));

/** A service that has derived the index of the first `indexed` events. */
function createService(all: SessionEvent[], indexed = 0) {
  const asked: string[] = [];
  return {
    asked,
    async *readIndex(from: number) {
      asked.push(`index ${from}`);
      for (let first = from; first <= indexed; first += 100) {
        yield { entries: all.slice(first - 1, Math.min(indexed, first + 99)).map(readEvent) };
      }
    },
    async readWindow(from: number, limit: number) {
      asked.push(`window ${from} ${limit}`);
      return all.slice(from - 1, from - 1 + limit);
    },
  };
}

const whenComplete = (log: EventLog, loaded: number) =>
  vi.waitUntil(() => log.state().isComplete && log.state().loaded === loaded, { timeout: 20_000 });

test('reads the index, and directly only the events that it does not cover yet', async () => {
  const service = createService(many(4000), 3900);
  const log = createEventLog(service, 4000);
  await whenComplete(log, 4000);
  expect(service.asked).toEqual(['index 1', 'window 3901 100']);
  expect(log.state().timeline.prompts.map(({ sequence }) => sequence)).toEqual(many(4000).map((each) => each.sequence));
});

test('shows the beginning first, and updates the timeline only when it has tripled', async () => {
  const log = createEventLog(createService(many(20_000), 20_000), 20_000);
  const shown: number[] = [];
  log.subscribe(() => shown.push(log.state().loaded));
  await whenComplete(log, 20_000);
  expect(shown[0]).toBe(100);
  expect(shown.length).toBeLessThan(9);
});

test('reads the events directly without an index', async () => {
  const service = createService(many(2500));
  const log = createEventLog(service, 2500);
  await whenComplete(log, 2500);
  expect(service.asked).toEqual(['index 1', 'window 1 300', 'window 301 1000', 'window 1301 1000', 'window 2301 200']);
});

test('reads only events that are added', async () => {
  const all = many(3);
  const service = createService(all);
  const log = createEventLog(service, 3);
  await whenComplete(log, 3);
  all.push(eventAt(4), eventAt(5));
  log.grow(5);
  log.grow(4);
  await whenComplete(log, 5);
  expect(service.asked).toEqual(['window 1 3', 'window 4 2']);
  expect(log.state().timeline.prompts.at(-1)).toMatchObject({ text: 'prompt 5' });
});

test('keeps its events when the service fails, and continues on request', async () => {
  const service = createService(many(1500));
  const answers = [true, false, true, true];
  const log = createEventLog(
    {
      ...service,
      async readWindow(from, limit) {
        if (!answers.shift()) throw new Error('down');
        return service.readWindow(from, limit);
      },
    },
    1500,
  );
  await vi.waitUntil(() => log.state().error !== undefined);
  expect(log.state()).toMatchObject({ loaded: 300, isComplete: false });
  log.retry();
  await whenComplete(log, 1500);
  expect(log.state().error).toBeUndefined();
});

test('sends no more requests once it is closed', async () => {
  const service = createService(many(5000));
  const log = createEventLog(service, 5000);
  await new Promise<void>((resolve) => log.subscribe(resolve));
  log.close();
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(service.asked.length).toBeLessThan(5);
  expect(log.state()).toMatchObject({ loaded: 300, isComplete: false });
});

test('joins the parts of a large payload, also across two windows', async () => {
  const source = { agent: 'claude-code', session: 's', file: 'f', position: 0 };
  const text = 'word '.repeat(4000);
  const parts = splitPayload(source, JSON.stringify({ source, text }), 1_000);
  const filler = many(300 - 5).map(({ payload }) => payload);
  const all = [...filler, ...parts.map((part) => ({ ...part })), { text: 'after' }].map((payload, index) => ({
    ...eventAt(index + 1),
    payload,
  }));
  const log = createEventLog(createService(all), all.length);
  await whenComplete(log, all.length);
  const { entries } = log.state().timeline;
  expect(entries[295]).toMatchObject({ kind: 'prompt', span: parts.length, length: text.length, sequence: 296 });
  expect(entries.at(-1)).toMatchObject({ text: 'after' });
  const joined: (Entry | undefined)[] = all.map(readEvent);
  joinAround(joined, 1, joined.length);
  expect(entries).toHaveLength([...eachOf(joined)].length);
});
