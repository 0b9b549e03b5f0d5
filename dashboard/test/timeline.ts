import { expect } from 'vitest';

/** The visible part of the timeline. Positions are in pixels from the top of the window. */

export const area = () => document.querySelector('.timeline') as HTMLElement;
export const drawnRows = () => [...document.querySelectorAll<HTMLElement>('.timeline-row')];
export const rowOf = (sequence: number) => drawnRows().find((row) => sequenceOf(row) === sequence);
export const current = () => document.querySelector<HTMLElement>('[data-current]') ?? undefined;

export function wordsOf(element: Element | undefined): string | undefined {
  // biome-ignore lint/performance/useDomNodeTextContent: hidden text is left out, and neighbours are separated
  return (element as HTMLElement | undefined)?.innerText.replaceAll(/\s+/g, ' ');
}

export const sequenceOf = (row: Element | undefined): number =>
  Number(/^Event (\d+),/.exec(row?.querySelector<HTMLElement>('.timeline-time')?.title ?? '')?.[1]);

/** Waits until the row of the event is the current one, contains the focus and is visible. */
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

/** The position of the current row once it no longer moves. */
export async function placeAtRest(): Promise<number> {
  let [before, now] = [Number.NaN, placeOf(current())];
  const look = () => {
    [before, now] = [now, placeOf(current())];
    return now - before;
  };
  // Some frames were drawn since the last check.
  await expect.poll(look, { interval: 100 }).toBe(0);
  return now;
}
