import { expect, test } from 'vitest';
import type { SessionFacts } from '../../contract/review.ts';
import { joinFiles, readFigures } from './rows.ts';

const facts = (summary: object, more: object = {}) =>
  ({
    summary: {
      ...{ prompts: 1, toolCalls: 0, failures: 0, filesChanged: 0, linesAdded: 0, linesRemoved: 0 },
      ...{ inputTokens: 0, outputTokens: 0 },
      ...summary,
    },
    ...{ files: [], milestones: [], ...more },
  }) as unknown as SessionFacts;
const file = (path: string, added: number) => ({ path, added, removed: 0, edits: 1, sequence: 1 });

test('the better of two figures is marked if both are known and differ', () => {
  const one = facts({ failures: 2, toolCalls: 9, inputTokens: 10, cost: 1 }, { tests: { passed: true } });
  const other = facts({ failures: 1, toolCalls: 5, outputTokens: 5, cost: 0.5 }, { tests: { passed: false } });
  const better = Object.fromEntries(readFigures(one, other).map((each) => [each.name, each.better]));
  expect(better).toMatchObject({ 'tests at the end': 'one', failures: 'other' });
  // Prompts are equal, more calls are not worse, and input tokens are unknown, so the cost is unknown as well.
  for (const name of ['prompts', 'tool calls', 'tokens in', 'cost']) expect(better[name]).toBe(undefined);
});

test('a session without calls does not count as better', () => {
  const idle = facts({ failures: 0, prompts: 1 });
  const busy = facts({ failures: 2, prompts: 3, toolCalls: 9 });
  expect(readFigures(idle, busy).filter(({ better }) => better)).toEqual([]);
});

test('files are joined by their path in the folder of each session', () => {
  const one = facts({}, { folder: '/a/shop', files: [file('/a/shop/x.ts', 1), file('/a/shop/z.ts', 2)] });
  const other = facts({}, { folder: '/b/shop', files: [file('/b/shop/y.ts', 3), file('/b/shop/z.ts', 4)] });
  expect(joinFiles(one, other).map(({ path, one, other }) => [path, one?.added, other?.added])).toEqual([
    ['z.ts', 2, 4],
    ['x.ts', 1, undefined],
    ['y.ts', undefined, 3],
  ]);
});
