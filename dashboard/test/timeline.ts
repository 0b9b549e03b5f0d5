import { expect } from 'vitest';

/** What a reader sees of the timeline, and where. Places are in pixels, from the top of the window. */

export const area = () => document.querySelector('.timeline') as HTMLElement;
export const drawnRows = () => [...document.querySelectorAll<HTMLElement>('.timeline-row')];
export const rowOf = (sequence: number) => drawnRows().find((row) => sequenceOf(row) === sequence);
export const current = () => document.querySelector<HTMLElement>('[data-current]') ?? undefined;

export function wordsOf(element: Element | undefined): string | undefined {
  // biome-ignore lint/performance/useDomNodeTextContent: what is not shown is not read, and neighbours stand apart
  return (element as HTMLElement | undefined)?.innerText.replaceAll(/\s+/g, ' ');
}

export const sequenceOf = (row: Element | undefined): number =>
  Number(/^Event (\d+),/.exec(row?.querySelector<HTMLElement>('.timeline-time')?.title ?? '')?.[1]);

/** Waits until the row of the event is the current one, has the focus in it, and is in sight. */
export async function expectAt(sequence: number): Promise<void> {
  await expect.poll(() => sequenceOf(current())).toBe(sequence);
  await expect.poll(() => current()?.contains(document.activeElement)).toBe(true);
  await expect.poll(() => isInSight(current())).toBe(true);
}

export function isInSight(row: HTMLElement | undefined): boolean {
  if (!row) return false;
  const [outer, inner] = [area().getBoundingClientRect(), row.getBoundingClientRect()];
  return inner.top >= outer.top - 1 && Math.min(inner.bottom, inner.top + 60) <= outer.bottom + 1;
}

const placeOf = (row: HTMLElement | undefined): number => row?.getBoundingClientRect().top ?? Number.NaN;

/** Where the current row is once it no longer moves. */
export async function placeAtRest(): Promise<number> {
  let [before, now] = [Number.NaN, placeOf(current())];
  const look = () => {
    [before, now] = [now, placeOf(current())];
    return now - before;
  };
  // At each look some frames were drawn since the last one.
  await expect.poll(look, { interval: 100 }).toBe(0);
  return now;
}
