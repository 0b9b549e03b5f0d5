import { expect, test, vi } from 'vitest';
import type { SessionEvent } from '../../contract/event.ts';
import { splitPayload } from '../../contract/parts.ts';
import { createEventLog } from './event-log.ts';

const eventAt = (sequence: number): SessionEvent => ({
  sessionId: 's',
  eventId: `e${sequence}`,
  sequence,
  eventType: 'user.message',
  payload: { text: `prompt ${sequence}` },
  createdAt: '2026-11-21T09:00:00.000Z',
});

function createService(all: SessionEvent[]) {
  const asked: number[] = [];
  const fetchWindow = async (from: number, limit: number) => {
    asked.push(from);
    return all.slice(from - 1, from - 1 + limit);
  };
  return { asked, fetchWindow };
}

const many = (count: number) => Array.from({ length: count }, (_, index) => eventAt(index + 1));

test('loads what is around the target, then what follows, then what is before', async () => {
  const { asked, fetchWindow } = createService(many(4000));
  const log = createEventLog({ fetchWindow, eventCount: 4000, target: 2500 });
  await vi.waitUntil(() => log.isComplete());
  expect(asked).toEqual([2400, 2700, 3700, 1400, 400, 1]);
  expect(log.entries().every((entry, index) => entry?.sequence === index + 1)).toBe(true);
});

test('fetches what is added, and only that', async () => {
  const all = many(3);
  const { asked, fetchWindow } = createService(all);
  const log = createEventLog({ fetchWindow, eventCount: 3 });
  await vi.waitUntil(() => log.isComplete());
  all.push(eventAt(4), eventAt(5));
  log.grow(5);
  log.grow(4);
  await vi.waitUntil(() => log.entries().length === 5);
  expect(asked).toEqual([1, 4]);
  expect(log.entries().at(-1)).toMatchObject({ kind: 'prompt', text: 'prompt 5' });
});

test('keeps what it has when the service fails, and goes on when asked to', async () => {
  const { fetchWindow } = createService(many(1500));
  const answers = [true, false, true, true];
  const log = createEventLog({
    eventCount: 1500,
    fetchWindow: async (from, limit) => {
      if (!answers.shift()) throw new Error('down');
      return fetchWindow(from, limit);
    },
  });
  await vi.waitUntil(() => log.error() !== undefined);
  expect(log.entries().filter(Boolean)).toHaveLength(300);
  log.retry();
  await vi.waitUntil(() => log.isComplete());
  expect(log.error()).toBeUndefined();
});

test('joins the parts of a large payload, also over the border of two windows', async () => {
  const source = { agent: 'claude-code', session: 's', file: 'f', position: 0 };
  const text = 'word '.repeat(4000);
  const parts = splitPayload(source, JSON.stringify({ source, text }), 1_000);
  const filler = many(300 - 5);
  const all = [...filler.map(({ payload }) => payload), ...parts.map((part) => ({ ...part })), { text: 'after' }].map(
    (payload, index) => ({ ...eventAt(index + 1), payload }),
  );
  const { fetchWindow } = createService(all);
  const log = createEventLog({ fetchWindow, eventCount: all.length });
  await vi.waitUntil(() => log.isComplete());
  expect(log.entries()[295]).toMatchObject({ kind: 'prompt', span: parts.length, length: text.length, sequence: 296 });
  expect(log.entries().at(-1)).toMatchObject({ text: 'after' });
});
