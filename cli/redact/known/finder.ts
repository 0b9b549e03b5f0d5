import type { Span } from '../mark.ts';
import { writeForms } from './forms.ts';

export const KNOWN_VALUE = 'known-value';

/** The hash below looks at eight letters, and no form is shorter. */
const WINDOW = 8;
const FILTER_BITS = 18;

interface Form {
  text: string;
  secret: string;
}

export type KnownFinder = (text: string) => Span[];

/**
 * Finds any of many strings in one pass, however many there are: a rolling hash of the last eight letters, a bit field
 * that nearly always says no, then a comparison.
 */
export function createKnownFinder(secrets: readonly string[]): KnownFinder {
  const byHash = new Map<number, Form[]>();
  const filter = new Uint8Array(1 << FILTER_BITS);
  for (const secret of secrets) {
    for (const text of writeForms(secret)) {
      const hash = hashStart(text);
      filter[hash >>> (32 - FILTER_BITS)] = 1;
      const sharing = byHash.get(hash);
      if (sharing === undefined) byHash.set(hash, [{ text, secret }]);
      else sharing.push({ text, secret });
    }
  }
  // The longest first, so that a secret is masked before another one that it begins with.
  for (const forms of byHash.values()) forms.sort((one, other) => other.text.length - one.text.length);
  if (byHash.size === 0) return () => [];

  return (text) => {
    const spans: Span[] = [];
    let hash = 0;
    for (let index = 0; index < text.length; index++) {
      hash = ((hash << 4) + (GEAR[text.charCodeAt(index) & 255] as number)) | 0;
      if (filter[hash >>> (32 - FILTER_BITS)] === 0) continue;
      const start = index + 1 - WINDOW;
      if (start < 0) continue;
      const form = byHash.get(hash)?.find((candidate) => text.startsWith(candidate.text, start));
      if (form === undefined) continue;
      spans.push({ start, end: start + form.text.length, rule: KNOWN_VALUE, secret: form.secret });
    }
    return spans;
  };
}

function hashStart(text: string): number {
  let hash = 0;
  for (let index = 0; index < WINDOW; index++)
    hash = ((hash << 4) + (GEAR[text.charCodeAt(index) & 255] as number)) | 0;
  return hash;
}

/** One scattered number per letter; each shift by four bits drops the letter of eight places before. */
const GEAR = Int32Array.from({ length: 256 }, (_, letter) => {
  let mixed = Math.imul(letter + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
});
