import { type RefCallback, useCallback, useState } from 'react';

/** The inner width of an element in pixels, without its padding, known before the first paint. */
export function useWidth(): readonly [RefCallback<HTMLElement>, number] {
  const [width, setWidth] = useState(0);
  const ref = useCallback((element: HTMLElement | null) => {
    if (!element) return undefined;
    // The observer reports only after the first paint, so the width is measured here.
    const { paddingLeft, paddingRight } = getComputedStyle(element);
    setWidth(Math.floor(element.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight)));
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
