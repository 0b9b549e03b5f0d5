import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../cli/agents/agent.ts';
import { parse as parseClaudeCode } from '../../cli/agents/claude-code/parse.ts';
import { parse as parseCodex } from '../../cli/agents/codex/parse.ts';
import { toDollars } from '../../transcript/entry/cost.ts';
import { readEvent } from '../../transcript/entry/read.ts';
import { noFacts } from '../derive/facts.ts';
import { fold } from '../derive/fold.ts';
import { addSpent, noSpent, readKey } from '../derive/spent.ts';
import { priceOf } from './folded.ts';

/** What the records of a transcript cost in US dollars, and the models that are charged. */
function charge(parse: typeof parseClaudeCode, records: readonly JsonObject[]) {
  const origin = { session: 'thread' };
  const events = records.flatMap((record, position) => parse(record, { origin, file: 'file', position }));
  const entries = events.map(({ eventType, payload }, at) =>
    readEvent({ sequence: at + 1, eventType, createdAt: '2026-11-20T10:00:00.000Z', payload: payload as never }),
  );
  const facts = noFacts();
  fold(facts, entries, priceOf);
  const spent = [...facts.days.values()].flatMap(({ models }) => [...models]);
  const total = noSpent();
  for (const [, sum] of spent) addSpent(total, sum);
  return {
    cost: toDollars(total.cost),
    models: new Set(spent.map(([key]) => readKey(key).model)),
    tokens: total.tokens,
  };
}

describe('a response of Claude Code', () => {
  const record = (usage: JsonObject, model = 'claude-opus-4-6'): JsonObject => ({
    ...{ parentUuid: null, isSidechain: false, type: 'assistant', uuid: 'u1', timestamp: '2026-11-20T10:00:01.000Z' },
    ...{ sessionId: 'thread', cwd: '/home/dev/app', version: '2.1.330', requestId: 'req_1' },
    message: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model, stop_reason: 'end_turn' },
      content: [{ type: 'text', text: 'Done' }],
      usage: {
        ...{ input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
        ...{ service_tier: 'standard', inference_geo: '', speed: 'standard' },
        ...usage,
      },
    },
  });
  const million = 1_000_000;

  test.each<[what: string, usage: JsonObject, dollars: number]>([
    [
      'that writes a cache for one hour',
      {
        cache_creation_input_tokens: million,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: million },
      },
      10,
    ],
    ['in fast mode', { input_tokens: million, output_tokens: million, speed: 'fast' }, 180],
    ['with a hundred web searches', { server_tool_use: { web_search_requests: 100, web_fetch_requests: 0 } }, 1],
    ['in the US', { input_tokens: million, inference_geo: 'us' }, 5.5],
  ])('%s has its price', (_, usage, dollars) => {
    expect(charge(parseClaudeCode, [record(usage)]).cost).toBe(dollars);
  });

  test('is charged with its advisor, and both models are named', () => {
    const message = { type: 'message', input_tokens: 2, output_tokens: 491, cache_read_input_tokens: 226_584 };
    const advisor = { type: 'advisor_message', model: 'claude-opus-4-7', input_tokens: 159_419, output_tokens: 7_805 };
    const usage = {
      input_tokens: 2,
      output_tokens: 491,
      cache_read_input_tokens: 226_584,
      cache_creation_input_tokens: 7_853,
    };
    const { cost, models, tokens } = charge(parseClaudeCode, [
      record({ ...usage, iterations: [message, advisor] }, 'claude-sonnet-4-6'),
    ]);
    expect(cost).toBeCloseTo(1.097015, 6);
    expect([...models]).toEqual(['claude-sonnet-4-6', 'claude-opus-4-7']);
    expect([tokens[0], tokens[4]]).toEqual([2 + 226_584 + 7_853 + 159_419, 491 + 7_805]);
  });
});

describe('a response of Codex', () => {
  const counts = (tokens: number) => ({
    ...{ input_tokens: tokens, cached_input_tokens: 0, output_tokens: tokens, reasoning_output_tokens: 0 },
    total_tokens: 2 * tokens,
  });
  const record = (type: string, payload: JsonObject): JsonObject => ({
    ...{ timestamp: '2026-11-20T09:00:10.000Z', type, payload },
  });
  const settings = (service_tier: string | null) =>
    record('event_msg', {
      type: 'thread_settings_applied',
      thread_settings: { model: 'gpt-5.6-terra', service_tier },
    });
  const spent = (total: number) =>
    record('event_msg', {
      type: 'token_count',
      info: { total_token_usage: counts(total), last_token_usage: counts(100_000) },
    });

  test('has the price of the tier that was set before it', () => {
    const { cost, tokens } = charge(parseCodex as never, [
      ...[settings('priority'), spent(100_000), spent(100_000)],
      ...[settings(null), spent(200_000)],
    ]);
    expect([tokens[0], tokens[4]]).toEqual([200_000, 200_000]);
    expect(cost).toBeCloseTo(2.8 + 1.4, 9);
  });
});
