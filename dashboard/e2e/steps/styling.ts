import type { Page } from 'playwright-core';

export interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Processor time, in microseconds. */
  tdur?: number;
  args?: { elementCount?: number; name?: string };
}

/** Events of these categories that the browser records during an action. */
export async function traceOf(
  page: Page,
  categories: string[],
  act: () => Promise<unknown>,
): Promise<readonly TraceEvent[]> {
  const browser = page.context().browser();
  if (!browser) throw new Error('the page is in no browser of its own');
  await browser.startTracing(page, { categories });
  const trace = await act().then(
    () => browser.stopTracing(),
    async (cause: unknown) => {
      await browser.stopTracing();
      throw cause;
    },
  );
  return (JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }).traceEvents;
}

/** The number of elements that the page restyles during an action. An element that is restyled twice counts twice. */
export async function countStyled(page: Page, act: () => Promise<unknown>): Promise<number> {
  const events = await traceOf(page, ['devtools.timeline'], act);
  return events
    .filter(({ name }) => name === 'UpdateLayoutTree')
    .reduce((sum, { args }) => sum + (args?.elementCount ?? 0), 0);
}
