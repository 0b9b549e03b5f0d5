import { expect, test } from 'vitest';
import { createMemory } from './limits.ts';

test('memory is given back once it is quiet after much work, and not for heartbeats', () => {
  let time = 0;
  let collected = 0;
  const memory = createMemory(
    { releaseMemory: () => {} },
    () => time,
    () => void collected++,
  );
  const pass = (ms: number) => {
    time += ms;
    memory.release();
  };
  pass(4000);
  expect(collected).toBe(0);
  for (let request = 0; request < 100; request++) memory.use();
  pass(4000);
  expect(collected).toBe(0);
  pass(2000);
  expect(collected).toBe(1);
  for (let beat = 0; beat < 10; beat++) {
    memory.use();
    pass(60_000);
  }
  expect(collected).toBe(1);
  expect(memory.pauseMs()).toBe(Number.POSITIVE_INFINITY);
});
