import {
  defaultRangeExtractor,
  useVirtualizer,
  type Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/react-virtual';

type Given<Area extends Element, Line extends Element> = Pick<
  VirtualizerOptions<Area, Line>,
  'count' | 'getScrollElement' | 'estimateSize'
> &
  Partial<VirtualizerOptions<Area, Line>>;

interface Options<Area extends Element, Line extends Element> extends Omit<Given<Area, Line>, 'rangeExtractor'> {
  count: number;
  getScrollElement: () => Area | null;
  estimateSize: (index: number) => number;
  /** The line that is always drawn, because it has the focus, which would be lost with it. Less than 0: none. */
  kept: () => number;
}

/** Computes the visible lines of a list of any length. */
export const useVirtualList = <Area extends Element, Line extends Element>({ kept, ...options }: Options<Area, Line>) =>
  useVirtualizer<Area, Line>({
    measureElement: heightOf,
    ...options,
    rangeExtractor: (range) => withIndex(defaultRangeExtractor(range), Math.min(kept(), range.count - 1)),
  });

function withIndex(indexes: number[], index: number): number[] {
  if (index < 0 || indexes.includes(index)) return indexes;
  return index < (indexes[0] ?? 0) ? [index, ...indexes] : [...indexes, index];
}

/**
 * The height of a line in pixels: an estimate, until the browser reports the height before it paints. Measuring it here
 * would lay out all lines at once.
 */
const heightOf = <Area extends Element, Line extends Element>(
  element: Line,
  entry: ResizeObserverEntry | undefined,
  list: Virtualizer<Area, Line>,
): number => entry?.borderBoxSize[0]?.blockSize ?? list.measurementsCache[list.indexFromElement(element)]?.size ?? 30;
