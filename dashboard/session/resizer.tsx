import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { readLocal, writeLocal } from '../kit/local-storage.ts';

const NAME = 'inspector';
const NARROWEST = 320;
const WIDEST = 960;
const STEP = 40;

/** The largest width, which leaves a part of the window for the timeline. */
const widest = () => Math.max(NARROWEST, Math.round(Math.min(WIDEST, window.innerWidth * 0.7)));
const fit = (width: number) => Math.round(Math.max(NARROWEST, Math.min(widest(), width)));

/** The width in pixels, stored in the browser; at first, it depends on the window. */
export function useInspectorWidth() {
  const [width, setWidth] = useState(() => fit(Number(readLocal(NAME)) || Math.max(420, window.innerWidth * 0.3)));
  const change = (next: number) => {
    setWidth(fit(next));
    writeLocal(NAME, fit(next));
  };
  return [width, change] as const;
}

/** The edge of the inspector, which can be dragged or moved with the arrow keys. */
export function Resizer({ width, onResize }: { width: number; onResize: (width: number) => void }) {
  const onMove = (event: PointerEvent) => {
    if (event.buttons === 1) onResize(window.innerWidth - event.clientX);
  };
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowLeft' ? STEP : event.key === 'ArrowRight' ? -STEP : 0;
    if (by === 0) return;
    event.preventDefault();
    event.stopPropagation();
    onResize(width + by);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule can be neither dragged nor focused
    <div
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label="Width of the inspector"
      aria-valuenow={width}
      aria-valuemin={NARROWEST}
      aria-valuemax={widest()}
      className="absolute inset-y-0 -left-1 z-6 w-2 cursor-col-resize touch-none hover:bg-accent/40 focus-visible:bg-accent/40"
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onMove}
      onKeyDown={onKey}
    />
  );
}
