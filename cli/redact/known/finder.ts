import type { Span } from '../mark.ts';
import { writeForms } from './forms.ts';

export const KNOWN_VALUE = 'known-value';

/** The hash below looks at eight letters, and no form is shorter. */
const WINDOW = 8;
/** How much of a value at the end or the beginning of a text tells that it was cut there, a third of it at least. */
const SHORTEST_PIECE = 12;
/** How far into a text the second half of a value may reach. */
const LONGEST_PIECE = 2048;
const FILTER_BITS = 18;

interface Form {
  text: string;
  secret: string;
}

export type KnownFinder = (text: string) => Span[];

/**
 * Finds any of many strings in one pass, however many there are: a rolling hash of the last eight letters, a bit field
 * that nearly always says no, then a comparison. A value that the text's end or beginning cuts is found as well: output
 * arrives in chunks.
 */
export function createKnownFinder(secrets: readonly string[]): KnownFinder {
  const forms = secrets.flatMap((secret) => writeForms(secret).map((text) => ({ text, secret })));
  if (forms.length === 0) return () => [];
  const starts = createIndex(forms, (text) => hashWindow(text, 0));
  const ends = createIndex(forms, (text) => hashWindow(text, text.length - WINDOW));

  return (text) => {
    const spans: Span[] = [];
    const add = (start: number, end: number, form: Form | undefined) => {
      if (form !== undefined) spans.push({ start, end, rule: KNOWN_VALUE, secret: form.secret });
    };
    let hash = 0;
    for (let index = 0; index < text.length; index++) {
      hash = ((hash << 4) + (GEAR[text.charCodeAt(index) & 255] as number)) | 0;
      if (index < LONGEST_PIECE && ends.filter[hash >>> (32 - FILTER_BITS)] === 1) {
        const form = ends.byHash.get(hash)?.find((candidate) => endsWithin(candidate.text, text, index + 1));
        add(0, index + 1, form);
      }
      if (starts.filter[hash >>> (32 - FILTER_BITS)] === 0) continue;
      const start = index + 1 - WINDOW;
      if (start < 0) continue;
      const candidates = starts.byHash.get(hash);
      const form = candidates?.find((candidate) => text.startsWith(candidate.text, start));
      if (form !== undefined) add(start, start + form.text.length, form);
      else
        add(
          start,
          text.length,
          candidates?.find((candidate) => startsWithin(candidate.text, text, start)),
        );
    }
    return spans;
  };
}

/** Forms by the hash of eight of their letters, the longest first: a secret goes before another one that it begins with. */
function createIndex(forms: readonly Form[], hashOf: (text: string) => number) {
  const byHash = Map.groupBy(forms, ({ text }) => hashOf(text));
  const filter = new Uint8Array(1 << FILTER_BITS);
  for (const [hash, sharing] of byHash) {
    filter[hash >>> (32 - FILTER_BITS)] = 1;
    sharing.sort((one, other) => other.text.length - one.text.length);
  }
  return { byHash, filter };
}

/** Whether a text ends within a form that begins at `start`. */
function startsWithin(form: string, text: string, start: number): boolean {
  const length = text.length - start;
  return isPiece(length, form) && form.startsWith(text.slice(start));
}

/** Whether a text begins within a form that ends at `end`. */
function endsWithin(form: string, text: string, end: number): boolean {
  return isPiece(end, form) && form.endsWith(text.slice(0, end));
}

const isPiece = (length: number, form: string) =>
  length < form.length && length >= Math.max(SHORTEST_PIECE, form.length / 3);

function hashWindow(text: string, from: number): number {
  let hash = 0;
  for (let index = from; index < from + WINDOW; index++)
    hash = ((hash << 4) + (GEAR[text.charCodeAt(index) & 255] as number)) | 0;
  return hash;
}

/** One scattered number per letter; each shift by four bits drops the letter of eight places before. */
const GEAR = Int32Array.from({ length: 256 }, (_, letter) => {
  let mixed = Math.imul(letter + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
});
