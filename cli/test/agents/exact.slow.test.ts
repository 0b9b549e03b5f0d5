import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import type { Agent, JsonObject, RecordPlace } from '../../agents/agent.ts';
import { AGENTS } from '../../agents/all.ts';
import { fixturesOf } from './corpus.ts';
import { anyRecord, mutated } from './hostile.ts';
import { compareLeaves } from './leaves.ts';

// Values that no record has, so that an added value cannot hide a lost one.
const place: RecordPlace = {
  origin: { session: 'ses of place' },
  file: 'file of place',
  position: 9_007_199_254_740_001,
};
const inSubagent: RecordPlace = { ...place, origin: { session: 'ses of place', subagent: 'sub of place' } };

function check(agent: Agent, text: string): void {
  for (const where of [place, inSubagent]) {
    const record = JSON.parse(text) as JsonObject;
    const events = agent.parse(record, where);
    const { lost, doubled } = compareLeaves(JSON.parse(text), events);
    if (lost.length + doubled.length > 0) throw new Error(JSON.stringify({ lost, doubled, events }));
    if (events.length === 0) throw new Error('no event');
    // Compare texts instead of values: `expect` takes 20 times as long as the rest of the test.
    if (JSON.stringify(agent.parse(JSON.parse(text), where)) !== JSON.stringify(events))
      throw new Error('parsing the record again gives other events');
    agent.recordKey(JSON.parse(text), where);
    agent.identify({ root: '/root', path: 'a/b.jsonl' }, JSON.parse(text));
  }
}

/** Records that failed once, or might fail. */
const FIXED = [
  '{"messages":{"id":"msg_1","message_id":"msg_1","role":"user","content_json":[{"type":"text","text":"a"}]}}',
  '{}',
  '{"type":"user"}',
  '{"type":"__proto__","__proto__":{"type":"user"}}',
  '{"type":"constructor","subtype":"toString"}',
  '{"type":"user","message":{"content":[]}}',
  '{"type":"user","message":{"content":["a",null,{},[],{"type":"image"},{"text":""}]}}',
  '{"type":"user","message":{"content":[{"type":"tool_result"}]},"toolUseResult":{"agentId":"a"}}',
  '{"type":"assistant","message":{"model":"m","id":"i"}}',
  '{"type":"assistant","message":{"id":"i","content":[{"type":"tool_use","name":"n"}]}}',
  '{"type":"assistant","message":{"content":[{"type":"text"},{"type":"tool_use"}],"usage":{"input_tokens":1.5}}}',
  '{"type":"assistant","isApiErrorMessage":true,"error":"x","message":{"content":[{"text":"a"}]}}',
  '{"type":"attachment","attachment":{"type":"queued_command","prompt":[{"text":"a"},{"text":"b"}]}}',
  '{"usage_ledger":{"id":{"toString":""}}}',
  '{"uuid":{"toString":""},"id":{"toString":""}}',
  '{"todo":{"position":{"toString":""}}}',
];

describe.each(AGENTS.map((agent) => ({ id: agent.id, agent })))('$id', ({ agent }) => {
  test.each(FIXED)('keeps every leaf of %s exactly once', (text) => check(agent, text));

  test('keeps every leaf of random records exactly once', () => {
    fc.assert(
      fc.property(anyRecord, (text) => check(agent, text)),
      runs(200),
    );
  });

  test('keeps every leaf of mutated records exactly once', () => {
    fc.assert(
      fc.property(mutated(fixturesOf(agent)), (text) => check(agent, text)),
      runs(200),
    );
  });

  test('preserves numbers that a double cannot represent', () => {
    const exact = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('12345678901234567890.5');
    const record = { type: 'assistant', payload: exact, message: { usage: { input_tokens: exact, output_tokens: 1 } } };
    const text = JSON.stringify(agent.parse(record, place));
    expect(text.split('12345678901234567890.5')).toHaveLength(3);
  });
});
