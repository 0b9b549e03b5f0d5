/** Reads payloads, which may contain anything. An unexpected value counts as absent. */

export type Loose = { readonly [key: string]: unknown };

const NOTHING: Loose = {};

export const asObject = (value: unknown): Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : NOTHING;

export const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The object itself, or the object in a JSON text. */
export function asParsedObject(value: unknown): Loose {
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return asObject(value);
  try {
    return asObject(JSON.parse(value));
  } catch {
    return NOTHING;
  }
}

export const toJson = (value: unknown): string => JSON.stringify(value, null, 2) ?? '';

/** The first line that is not empty, without line breaks. */
export function firstLine(text: string, length = 200): string {
  const start = text.slice(0, length * 4).trimStart();
  const line = start.split('\n', 1)[0] ?? '';
  return line.length > length ? `${line.slice(0, length)}…` : line.trimEnd();
}

/** Lines that only announce the following words, and lines without any: `Implement the following plan:`, `<task>`, `---`. */
const NOTHING_SAID = /^(?:[^.!?]{0,60}:|<[^<>]{1,60}>|\[\[.{0,60}\]\]|[^\p{L}\p{N}]*)$/u;

export const saysNothing = (line: string): boolean => NOTHING_SAID.test(line);

/** The first line of a prompt that says what it is about, without the marks of a heading. */
export function promptLine(text: string, length = 200): string {
  const start = text.trimStart().slice(0, length * 8);
  const lines = start.split('\n', 40).map((line) => line.trim().replace(/^#{1,6}\s+/, ''));
  return firstLine(lines.find((line) => !saysNothing(line)) ?? start, length);
}

export const clip = (text: string, length: number): string => (text.length > length ? text.slice(0, length) : text);
