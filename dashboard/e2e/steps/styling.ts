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
  await act();
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse((await browser.stopTracing()).toString());
  return traceEvents
    .filter(({ name }) => name === 'UpdateLayoutTree')
    .reduce((sum, { args }) => sum + (args?.elementCount ?? 0), 0);
}
