import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import type { Source } from '../../derive/chunks.ts';
import { deriveSlice } from '../../derive/derive-slice.ts';
import { readPrices } from '../../derive/prices/prices.ts';
import { pack } from '../../log/codec.ts';
import { decodeFrame, encodeFrame } from '../../log/frame.ts';
import { EventMasker } from './event-masker.ts';
import { findText } from './finder.ts';

const prices = readPrices();
const MAX_EVENTS = 12;
const MARK = '[REDACTED:manual:00ff]';

const NUMBER = fc.constantFrom(4711, 47112, 7654321, 1500);
const WORD = fc.constantFrom('4711', 'excluded', 'included', 'person', 'hello there', 'a 7654321 b');
const MODEL = fc.constantFrom('claude-opus-4-6', 'gpt-5', '4711');
const ID = fc.constantFrom('call_4711', 'call_47112', 'resp_1500');
const SOURCE = fc.record({
  agent: fc.constant('codex'),
  session: fc.constant('s'),
  file: fc.constant('/t.jsonl'),
  position: NUMBER,
  record: fc.constant('record'),
  index: fc.constantFrom(0, 1),
});
const EVENT = fc.oneof(
  fc.tuple(fc.constant('user.message'), fc.record({ text: WORD, images: NUMBER })),
  fc.tuple(fc.constant('assistant.message'), fc.record({ text: WORD, model: MODEL, messageId: ID })),
  fc.tuple(fc.constant('tool.call'), fc.record({ callId: ID, name: fc.constant('Other'), input: WORD, model: MODEL })),
  fc.tuple(
    fc.constant('tool.result'),
    fc.record({ callId: ID, output: WORD, isError: fc.boolean(), exitCode: NUMBER, durationMs: NUMBER }),
  ),
  fc.tuple(
    fc.constant('usage'),
    fc.record({
      responseId: ID,
      model: MODEL,
      inputTokens: NUMBER,
      outputTokens: NUMBER,
      cacheReadTokens: NUMBER,
      totalTokens: NUMBER,
      cached: fc.constantFrom('excluded', 'included'),
      cacheWriteTokens: NUMBER,
      cacheWrite1hTokens: NUMBER,
      webSearches: NUMBER,
      speed: fc.constantFrom('fast', 'standard'),
      region: fc.constant('us'),
    }),
  ),
  fc.tuple(
    fc.constant('assistant.message'),
    fc.tuple(MODEL, NUMBER, WORD).map(([model, tokens, text]) => ({
      text,
      rest: {
        message: {
          usage: {
            speed: 'fast',
            inference_geo: 'us',
            cache_creation: { ephemeral_1h_input_tokens: tokens },
            server_tool_use: { web_search_requests: tokens },
            iterations: [{ type: 'advisor_message', model, input_tokens: tokens, output_tokens: tokens }],
          },
        },
      },
    })),
  ),
  fc.tuple(fc.constant('session.meta'), fc.record({ title: WORD, titleBy: fc.constant('person'), model: MODEL })),
  fc.tuple(fc.constant('turn.finished'), fc.record({ reason: WORD, durationMs: NUMBER })),
  fc.tuple(
    fc.constant('notice'),
    fc.tuple(MODEL, NUMBER, WORD).map(([model, tokens, text]) => ({
      kind: 'agent_progress',
      rest: {
        data: {
          agentId: 'a1',
          message: {
            message: {
              id: 'm1',
              role: 'assistant',
              model,
              usage: { input_tokens: tokens, output_tokens: tokens },
              content: [{ type: 'text', text }],
            },
          },
        },
      },
    })),
  ),
);

const appendOf = (events: readonly { eventType: string; payload: string }[]) => ({
  ...{ first_sequence: 1, last_sequence: events.length, append_id: 'a', created_at: 1 },
  ...pack(encodeFrame(events.map(({ eventType, payload }) => ({ eventType, payload: Buffer.from(payload) })))),
});

/** The figures of a session with one append: those of lists, and those of days with their models. */
function figuresOf(append: Source) {
  const slice = deriveSlice(
    {
      place: {
        agentId: 'codex',
        environmentId: 'env_1',
        repository: null,
        remote: null,
        repoRoot: null,
        gitBranch: null,
      },
      stored: { facts: null, from: 1, words: [], earlier: [] },
      through: 0,
      appends: [append],
      isEnd: true,
      isClosed: true,
      eventCount: MAX_EVENTS,
      wordPrefix: '',
      packsWords: false,
    },
    prices,
  );
  const { summary: _, ...columns } = slice?.columns ?? { summary: '' };
  return { columns, days: slice?.days };
}

test('masking any text changes no figure of a session', () => {
  const events = fc.array(fc.tuple(EVENT, SOURCE), { minLength: 1, maxLength: MAX_EVENTS }).map((all) =>
    all.map(([[eventType, fields], source], at) => ({
      eventType,
      payload: JSON.stringify({
        source,
        occurredAt: `2026-11-20T10:${String(at).padStart(2, '0')}:00.000Z`,
        ...fields,
        pin: 4711,
      }),
    })),
  );
  const text = fc.constantFrom(
    '4711',
    '47112',
    '7654321',
    '1500',
    'excluded',
    'person',
    'claude-opus-4-6',
    'gpt-5',
    'fast',
  );
  fc.assert(
    fc.property(events, text, (sent, wanted) => {
      const append = appendOf(sent);
      const left = new Set<string>();
      const masker = new EventMasker(findText(wanted, MARK, (field) => left.add(field)));
      const [masked = append] = [...masker.add(append), ...masker.end()];
      expect(figuresOf({ ...append, codec: masked.codec, body: masked.body })).toEqual(figuresOf(append));
      const remaining = decodeFrame(masked).map(({ payload }) => Buffer.from(payload).toString());
      // Outside of figures, numbers are masked as everything else.
      for (const payload of remaining) expect(JSON.parse(payload).pin).toBe(wanted === '4711' ? MARK : 4711);
      const isThere = sent.some(({ payload }) => new RegExp(`"model":"${wanted}"`).test(payload));
      expect(left.has('model')).toBe(isThere);
    }),
    runs(300),
  );
});

test('a text in a figure of the wrong type is masked', () => {
  const payload =
    '{"outputTokens":"pin 4711","inputTokens":[4711],"cached":"4711","model":["4711"],"reasoningTokens":4711}';
  const append = appendOf([{ eventType: 'usage', payload }]);
  const masker = new EventMasker(findText('4711', MARK));
  const [masked] = [...masker.add(append), ...masker.end()];
  expect(JSON.parse(Buffer.from(decodeFrame(masked ?? append)[0]?.payload ?? []).toString())).toEqual({
    outputTokens: `pin ${MARK}`,
    inputTokens: [MARK],
    cached: MARK,
    model: [MARK],
    reasoningTokens: 4711,
  });
});
