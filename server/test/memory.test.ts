import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { IdleMemory } from '../memory.ts';

describe('a service at rest', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const start = (apartMs = 0) => {
    const giveBack = vi.fn();
    const idleMemory = new IdleMemory(giveBack, { quietMs: 1_000, apartMs });
    const work = (times: number) => {
      for (let n = 0; n < times; n++) idleMemory.note();
    };
    return { idleMemory, giveBack, work };
  };

  test('returns memory once after its start, and again after more work', () => {
    const { giveBack, work } = start();
    vi.advanceTimersByTime(5_000);
    expect(giveBack).toHaveBeenCalledTimes(1);
    work(20);
    vi.advanceTimersByTime(5_000);
    expect(giveBack).toHaveBeenCalledTimes(2);
  });

  test('returns no memory during work', () => {
    const { giveBack, work } = start();
    for (let n = 0; n < 10; n++) {
      work(20);
      vi.advanceTimersByTime(900);
    }
    expect(giveBack).not.toHaveBeenCalled();
  });

  test('returns no memory after little work until it has accumulated', () => {
    const { giveBack, work } = start();
    vi.advanceTimersByTime(5_000);
    work(10);
    vi.advanceTimersByTime(5_000);
    expect(giveBack).toHaveBeenCalledTimes(1);
    work(10);
    vi.advanceTimersByTime(5_000);
    expect(giveBack).toHaveBeenCalledTimes(2);
  });

  test('returns memory at most once in a while, however often work pauses', () => {
    const { giveBack, work } = start(60_000);
    for (let n = 0; n < 5; n++) {
      work(20);
      vi.advanceTimersByTime(10_000);
    }
    expect(giveBack).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(20_000);
    expect(giveBack).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(120_000);
    expect(giveBack).toHaveBeenCalledTimes(2);
  });

  test('returns no memory after it closes', () => {
    const { idleMemory, giveBack } = start();
    idleMemory.close();
    vi.advanceTimersByTime(5_000);
    expect(giveBack).not.toHaveBeenCalled();
  });
});
