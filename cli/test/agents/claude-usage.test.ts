import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import { createUsageSum, readUsage } from '../../../transcript/entry/usage.ts';
import type { JsonObject } from '../../agents/agent.ts';
import { claudeCode } from '../../agents/claude-code/claude-code.ts';

interface Said {
  prompt: number;
  output: number;
  blocks: number;
}

/** The records of a response: one for each block, with an output that grows to the last. */
const recordsOf = ({ prompt, output, blocks }: Said, id: string, more: object = {}) =>
  Array.from({ length: blocks }, (_, block) => ({
    type: 'assistant',
    uuid: `${id}-${prompt}-${block}`,
    version: '2.1.330',
    message: {
      id,
      model: 'claude-opus-4-6',
      content: [{ type: 'text', text: 'Yes.' }],
      usage: { input_tokens: prompt, output_tokens: block === blocks - 1 ? output : 0 },
    },
    ...more,
  }));

const usagesIn = (records: object[], subagent?: string) =>
  records.flatMap((record) => {
    const origin = { session: 's', ...(subagent && { subagent }) };
    const events = claudeCode.parse(structuredClone(record) as JsonObject, { origin, file: 'f', position: 0 });
    return events.flatMap((event) => (event.eventType === 'usage' ? [readUsage({ ...event.payload })] : []));
  });

/** Responses of a conversation, whose prompts grow. */
const conversation = fc
  .array(
    fc.record({
      grows: fc.integer({ min: 1, max: 9_000 }),
      output: fc.nat(5_000),
      blocks: fc.integer({ min: 1, max: 4 }),
    }),
  )
  .map((list) => {
    let prompt = 0;
    return list.map(({ grows, output, blocks }): Said => {
      prompt += grows;
      return { prompt, output, blocks };
    });
  });

test.each([
  ['the same id', () => 'msg_gateway'],
  ['an id for each response', (n: number) => `chatcmpl-${n}`],
])('responses through a gateway that gives %s count once each', (_, idOf) => {
  fc.assert(
    fc.property(conversation, (said) => {
      const sum = createUsageSum();
      for (const usage of usagesIn(said.flatMap((one, n) => recordsOf(one, idOf(n))))) sum.add(usage);
      expect(sum.total.input).toBe(said.reduce((total, { prompt }) => total + prompt, 0));
      expect(sum.total.output).toBe(said.reduce((total, { output }) => total + output, 0));
    }),
    runs(200),
  );
});

test('a response has the id that its vendor drew', () => {
  const id = 'msg_01ABCDEFGHJKLMNPQRSTUVWX';
  const [usage] = usagesIn(recordsOf({ prompt: 10, output: 1, blocks: 1 }, id, { requestId: 'req_1' }));
  expect(usage?.responseId).toBe(id);
});

test("a sub-agent's response has the id under which versions up to 2.1.63 repeat it in the session's file", () => {
  const records = recordsOf({ prompt: 10, output: 1, blocks: 1 }, 'msg_a', { version: '2.1.63' });
  expect(usagesIn(records, 'a').map(({ responseId }) => responseId)).toEqual(['msg_a']);
  expect(usagesIn(records).map(({ responseId }) => responseId)).toEqual(['msg_a 10+0+0']);
});
