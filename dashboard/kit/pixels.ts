/** Lengths that both a style sheet and code need. Style sheets define them as custom properties of the document. */
type Pixels = `--${string}`;

const known = new Map<Pixels, number>();

/** @returns the length in pixels. It is read once, since each read makes the browser compute styles. */
export function pixels(name: Pixels): number {
  const found = known.get(name);
  if (found !== undefined) return found;
  const length = Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue(name));
  if (Number.isNaN(length)) throw new Error(`No style sheet has ${name}.`);
  known.set(name, length);
  return length;
}
