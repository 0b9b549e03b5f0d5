import { type RefCallback, useCallback, useState } from 'react';

/** The width of an element in pixels, inside of its padding, from the first time that it is painted. */
export function useWidth(): readonly [RefCallback<HTMLElement>, number] {
  const [width, setWidth] = useState(0);
  const ref = useCallback((element: HTMLElement | null) => {
    if (!element) return undefined;
    // The observer tells of it after a paint without a width.
    const { paddingLeft, paddingRight } = getComputedStyle(element);
    setWidth(Math.floor(element.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight)));
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
