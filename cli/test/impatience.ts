import { onTestFinished, vi } from 'vitest';

/** Makes every timeout 50 times shorter until the end of the test. */
export function losePatience(): void {
  const { timeout } = AbortSignal;
  const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout.call(AbortSignal, ms / 50));
  onTestFinished(() => spy.mockRestore());
}
