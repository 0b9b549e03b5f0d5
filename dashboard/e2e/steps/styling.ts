import type { Page } from 'playwright-core';

interface TraceEvent {
  name: string;
  args?: { elementCount?: number };
}

/** How many elements the page styles anew while something is done, one that is styled twice counted twice. */
export async function countStyled(page: Page, act: () => Promise<unknown>): Promise<number> {
  const browser = page.context().browser();
  if (!browser) throw new Error('the page is in no browser of its own');
  await browser.startTracing(page, { categories: ['devtools.timeline'] });
  const trace = await act().then(
    () => browser.stopTracing(),
    async (cause: unknown) => {
      await browser.stopTracing();
      throw cause;
    },
  );
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse(trace.toString());
  return traceEvents
    .filter(({ name }) => name === 'UpdateLayoutTree')
    .reduce((sum, { args }) => sum + (args?.elementCount ?? 0), 0);
}
