import { afterEach, expect, test, vi } from 'vitest';
import { createMemory } from './limits.ts';

afterEach(() => void vi.useRealTimers());

test('memory is given back once it is quiet after much work, and not for heartbeats', () => {
  vi.useFakeTimers();
  let collected = 0;
  const memory = createMemory({ releaseMemory: () => {} }, () => void collected++);
  vi.advanceTimersByTime(4000);
  expect(collected).toBe(0);
  for (let request = 0; request < 100; request++) memory.use();
  vi.advanceTimersByTime(4000);
  expect(collected).toBe(0);
  vi.advanceTimersByTime(2000);
  expect(collected).toBe(1);
  for (let beat = 0; beat < 10; beat++) {
    memory.use();
    vi.advanceTimersByTime(60_000);
  }
  expect(collected).toBe(1);
  for (let request = 0; request < 100; request++) memory.use();
  memory.close();
  vi.advanceTimersByTime(60_000);
  expect(collected).toBe(1);
});
