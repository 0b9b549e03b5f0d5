import { onTestFinished, vi } from 'vitest';

/** Until the end of the test, what waits up to some seconds for an answer that never comes gives up 50 times as soon. */
export function losePatience(): void {
  const { timeout } = AbortSignal;
  const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout.call(AbortSignal, ms / 50));
  onTestFinished(() => spy.mockRestore());
}
