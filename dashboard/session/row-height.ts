import type { Virtualizer } from '@tanstack/react-virtual';

/**
 * How high a row of a list is, in pixels: as high as expected until the browser tells, which it does before it paints. To ask
 * would be to lay all out at once.
 */
export const heightOf = <Area extends Element, Line extends Element>(
  element: Line,
  entry: ResizeObserverEntry | undefined,
  list: Virtualizer<Area, Line>,
): number => entry?.borderBoxSize[0]?.blockSize ?? list.measurementsCache[list.indexFromElement(element)]?.size ?? 30;
