import { expect, test, vi } from 'vitest';
import type { SessionEvent } from '../../../contract/event.ts';
import { splitPayload } from '../../../transcript/parts.ts';
import { createTexts } from './texts.ts';

const eventAt = (sequence: number, payload: object = { text: `text ${sequence}` }): SessionEvent => ({
  ...{ sessionId: 's', eventId: `e${sequence}`, sequence, eventType: 'assistant.message' },
  payload: payload as SessionEvent['payload'],
  createdAt: '2026-11-21T09:00:00.000Z',
});

function createService(payloadAt: (sequence: number) => object | undefined = () => undefined) {
  const asked: string[] = [];
  const readWindow = async (from: number, limit: number) => {
    asked.push(`${from}+${limit}`);
    return Array.from({ length: limit }, (_, index) => eventAt(from + index, payloadAt(from + index)));
  };
  return { asked, texts: createTexts(readWindow) };
}

const whenThere = (want: (there: () => void) => unknown) => new Promise<void>((resolve) => void want(resolve));

test('close texts are read in one request, and distant texts in several', async () => {
  const { asked, texts } = createService();
  await Promise.all([40, 10, 13, 17].map((sequence) => whenThere((there) => texts.want({ sequence, span: 1 }, there))));
  expect(asked.sort()).toEqual(['10+8', '40+1']);
  expect([10, 13, 17, 40, 11].map(texts.get)).toEqual(['text 10', 'text 13', 'text 17', 'text 40', undefined]);
});

test('texts that were scrolled past are not read', async () => {
  const { asked, texts } = createService();
  texts.want({ sequence: 5, span: 1 }, () => {})();
  await whenThere((there) => texts.want({ sequence: 90, span: 1 }, there));
  expect(asked).toEqual(['90+1']);
});

test('a text in parts is joined', async () => {
  const source = { agent: 'a', session: 's', file: 'f', position: 0 };
  const text = 'word '.repeat(1000);
  const parts = splitPayload(source, JSON.stringify({ source, text }), 1_000);
  const { texts } = createService((sequence) => parts[sequence - 1]);
  await whenThere((there) => texts.want({ sequence: 1, span: parts.length }, there));
  expect(texts.get(1)).toBe(text);
});

test('only the texts read last are kept', async () => {
  const { texts } = createService(() => ({ text: 'x'.repeat(1_500_000) }));
  for (const sequence of [1, 200, 400]) await whenThere((there) => texts.want({ sequence, span: 1 }, there));
  expect([1, 200, 400].map((sequence) => texts.get(sequence)?.length)).toEqual([undefined, 1_500_000, 1_500_000]);
});

test('the beginning of a text stays if the service does not answer', async () => {
  const fail = vi.fn(() => Promise.reject(new Error('down')));
  const texts = createTexts(fail);
  await whenThere((there) => texts.want({ sequence: 1, span: 1 }, there));
  expect(texts.get(1)).toBeUndefined();
});
