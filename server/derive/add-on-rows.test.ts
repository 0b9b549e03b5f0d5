import { expect, test } from 'vitest';
import { factsOf } from '../test/folded.ts';
import { dayRowsOf } from './day-rows.ts';
import type { Spent } from './facts.ts';

const spent = (input: number, output: number, cost: number, unpriced = 0): Spent => {
  return { tokens: [input, 0, 0, 0, output, 0], cost, unpriced };
};

test('an add-on has one row a day: its calls under any spelling that the store cannot tell apart, and the tokens of all models', () => {
  const facts = factsOf(['user.message', { text: 'Please' }, 0]);
  const [day] = facts.days.values();
  day?.addOns.set('mcp a\0', [1, 1, 5, 0]).set('mcp a\ufffd', [2, 0, 3, 1]).set('skill told only', [0, 0, 0, 1]);
  facts.laneTypes.set('one', 'Explore').set('two', 'Explore');
  day?.lanes
    .set('one opus', spent(10, 1, 7))
    .set('one own model', spent(20, 2, 0, 22))
    .set('two opus', spent(30, 3, 8))
    .set('unknown opus', spent(40, 4, 9));
  const rows = dayRowsOf(facts, { agentId: 'codex', environmentId: 'env_1' });
  const addOns = rows.filter(({ last_used_at }) => last_used_at !== null);
  expect(addOns).toMatchObject([
    { kind: 'mcp', name: 'a\ufffd', tool_calls: 3, failures: 1, last_used_at: 5, is_listed: 1, cost: 0 },
    { kind: 'skill', name: 'told only', tool_calls: 0, last_used_at: 0, is_listed: 1 },
    { kind: 'subagent', name: 'Explore', input_tokens: 60, output_tokens: 6, unpriced_tokens: 22, cost: 15 },
  ]);
  expect(addOns.every((row) => row.agent_id === 'codex' && row.environment_id === null && row.prompts === 0)).toBe(
    true,
  );
  expect(rows.filter(({ kind }) => kind === 'session')).toMatchObject([{ prompts: 1, tool_calls: 0, cost: 0 }]);
});
