import { expect, test } from 'vitest';
import { type Event, factsOf } from '../test/folded.ts';
import { dayRowsOf } from './day-rows.ts';
import { valuesOf } from './values.ts';

test('a session was active in the half hours of its prompts, calls and failures, of which the first two are counted', () => {
  const facts = factsOf(
    ['user.message', { text: 'Please' }, 29],
    ['tool.call', { callId: 'a', name: 'Bash', input: { command: 'ls' } }, 1],
    ['tool.result', { callId: 'a', output: 'no', exitCode: 1 }, 2],
    ['tool.result', { callId: 'b', isError: true }, 1_439],
    ['user.message', { text: 'Go on' }, 1_440],
    ['assistant.message', { text: 'Done' }, 1_500],
  );
  const values = [...valuesOf(facts).values()];
  const valuesIn = (name: string) => values.filter(({ field }) => field === name).map(({ name }) => name);
  expect(valuesIn('half_hour')).toEqual(['2026-11-20t00:00', '2026-11-20t23:30', '2026-11-21t00:00']);
  expect(valuesIn('hour')).toEqual(['fri-00', 'sat-00']);
  const days = dayRowsOf(facts, { agentId: 'codex', environmentId: 'env_1' });
  expect(days.filter(({ kind }) => kind === 'hour').map(({ name, tool_calls }) => [name, tool_calls])).toEqual([
    ['fri-00', 2],
    ['sat-00', 1],
  ]);
});

test('a session around the clock keeps a limited number of half hours', () => {
  const facts = factsOf(
    ...Array.from({ length: 4_000 }, (_, n): Event => ['user.message', { text: 'Go on' }, n * 30]),
    ['user.message', { text: 'Again' }, 0],
  );
  const halfHours = [...facts.days.values()].flatMap((day) => [...day.halfHours.values()]);
  expect(halfHours).toHaveLength(3_000);
  expect(halfHours[0]).toBe(2);
  expect(facts.prompts).toBe(4_001);
});
