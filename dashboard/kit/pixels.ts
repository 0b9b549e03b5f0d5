/** Lengths that both the style sheet and code need. The style sheet defines them as custom properties of the document. */
export type Pixels =
  | '--line-row'
  | '--line-quiet'
  | '--line-rule'
  | '--line-day'
  | '--line-failure'
  | '--line-file'
  | '--line-text'
  | '--line-code'
  | '--list-row'
  | '--list-row-narrow'
  | '--list-day'
  | '--list-hit'
  | '--list-head'
  | '--turn-head'
  | '--strip-plot'
  | '--plot-height'
  | '--plot-height-large';

const known = new Map<Pixels, number>();

/** @returns the length in pixels. It is read once, since each read makes the browser compute styles. */
export function pixels(name: Pixels): number {
  const found = known.get(name);
  if (found !== undefined) return found;
  const length = Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue(name));
  if (Number.isNaN(length)) throw new Error(`The style sheet has no ${name}.`);
  known.set(name, length);
  return length;
}
