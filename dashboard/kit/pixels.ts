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

const known = new Map<string, number>();

/** @returns the length in pixels. It is read once for each density, since each read makes the browser compute styles. */
export function pixels(name: Pixels): number {
  const root = document.documentElement;
  const key = `${name} ${root.dataset.density}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const length = Number.parseFloat(getComputedStyle(root).getPropertyValue(name));
  if (Number.isNaN(length)) throw new Error(`The style sheet has no ${name}.`);
  known.set(key, length);
  return length;
}
