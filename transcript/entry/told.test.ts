import { describe, expect, test } from 'vitest';
import { readEvent } from './read.ts';
import { noteTold, type Tellings, usagesOf } from './told.ts';
import { nameOfTerms, type Usage } from './usage.ts';

type Event = [eventType: string, payload: object];

/** The responses that events report, in order. */
function usagesIn(...events: Event[]): Usage[] {
  const tellings: Tellings = { settings: new Map() };
  return events.flatMap(([eventType, payload], at) => {
    const createdAt = '2026-11-20T10:00:00.000Z';
    const entry = readEvent({ sequence: at + 1, eventType, createdAt, payload: payload as never });
    noteTold(tellings, entry);
    return usagesOf(tellings, entry);
  });
}

/** An answer of Claude Code, as earlier versions of the command line sent it, and its usage. */
const answered = (record: string, more: object, tokens: object = {}): Event[] => [
  ['assistant.message', { source: { record, index: 0 }, text: 'Done', rest: { message: { usage: more } } }],
  [
    'usage',
    {
      source: { record, index: 1 },
      ...{ responseId: `msg_${record}`, model: 'claude-opus-4-6', cached: 'excluded', cacheWriteTokens: 1_000 },
      ...tokens,
    },
  ],
];

describe('earlier events of Claude Code', () => {
  test('tell in their first event what decides the price of their response', () => {
    const told = {
      cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 600 },
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
      service_tier: 'standard',
      inference_geo: 'us',
      speed: 'fast',
    };
    const [usage, next] = usagesIn(...answered('a', told), ...answered('b', {}));
    expect(usage).toMatchObject({ cacheWrite: 1_000, cacheWrite1h: 600, webSearches: 2 });
    expect(nameOfTerms(usage as Usage)).toBe('fast+in:us');
    expect(next).toMatchObject({ cacheWrite1h: 0, webSearches: 0 });
    expect(nameOfTerms(next as Usage)).toBe('');
  });

  test('tell nothing about the response of another record', () => {
    const [first] = answered('a', { speed: 'fast' });
    const [, second] = answered('b', {});
    expect(usagesIn(first as Event, second as Event).map(nameOfTerms)).toEqual(['']);
  });

  test('have the responses of advisors and compactions, which the usage of the answer excludes', () => {
    const iterations = [
      { type: 'message', input_tokens: 1, output_tokens: 45 },
      { type: 'advisor_message', model: 'claude-opus-4-7', input_tokens: 159_419, output_tokens: 7_805 },
      { type: 'compaction', input_tokens: 500, output_tokens: 20, cache_read_input_tokens: 100 },
    ];
    const usages = usagesIn(...answered('a', { iterations }), ...answered('a', { iterations }));
    expect(
      usages.map(({ responseId, model, purpose, input, output }) => [responseId, model, purpose, input, output]),
    ).toEqual(
      Array.from({ length: 2 }, () => [
        ['msg_a', 'claude-opus-4-6', undefined, 1_000, 0],
        ['msg_a:advisor:0', 'claude-opus-4-7', 'advisor', 159_419, 7_805],
        ['msg_a:compaction:1', 'claude-opus-4-6', 'compaction', 600, 20],
      ]).flat(),
    );
  });

  test('do not change what a later version of the command line names', () => {
    const named = { speed: 'standard', cacheWrite1hTokens: 1_000, webSearches: 3 };
    const told = { speed: 'fast', cache_creation: { ephemeral_1h_input_tokens: 600 } };
    const [usage] = usagesIn(...answered('a', told, named));
    expect(usage).toMatchObject({ cacheWrite1h: 1_000, webSearches: 3 });
    expect(nameOfTerms(usage as Usage)).toBe('');
  });
});

describe('events of Codex', () => {
  const settings = (tier: string | null, subagent?: string): Event => [
    'session.meta',
    { source: { subagent }, rest: { payload: { thread_settings: { service_tier: tier } } } },
  ];
  const spent = (rest: object, subagent?: string): Event => [
    'usage',
    { source: { subagent }, inputTokens: 10, outputTokens: 1, rest: { payload: rest } },
  ];

  test('tell the tier with the response, or else in the settings before it', () => {
    const usages = usagesIn(
      spent({}),
      spent({ service_tier: 'priority', model: 'gpt-5.6-terra' }),
      settings('priority'),
      spent({}),
      spent({ service_tier: 'default' }),
      spent({}, 'helper'),
      settings(null),
      spent({}),
      settings('fast', 'helper'),
      spent({}, 'helper'),
    );
    expect(usages.map(nameOfTerms)).toEqual(['', 'priority', 'priority', '', '', '', 'priority']);
    expect(usages[1]?.model).toBe('gpt-5.6-terra');
  });
});

test('terms that no vendor writes are left out', () => {
  const wrong = { speed: 'Fast mode!', tier: 7, region: 'not_available', webSearches: -1, cacheWrite1hTokens: 9 };
  const [usage] = usagesIn(['usage', { inputTokens: 10, ...wrong }]);
  expect(usage).toMatchObject({ webSearches: 0, cacheWrite1h: 0 });
  expect(nameOfTerms(usage as Usage)).toBe('');
});
