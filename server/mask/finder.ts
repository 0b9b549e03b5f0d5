import { findInJson, isOwn, type Token } from '../../redact/json-places.ts';
import { findPlaces, type Place, type Search } from '../../redact/places.ts';

/** A piece that is masked, and what takes its place there. */
export interface Replacement extends Place {
  text: string;
}

/** Finds what is to be masked; pieces come in order and without overlap. */
export interface Finder {
  /** In a text as it is read. */
  inText(text: string): Replacement[];
  /** In a JSON text, which stays one. */
  inJson(json: string): Replacement[];
  /** In a part of a payload, but not in its slice of it: that is found in the parts together. */
  inPart(json: string): Replacement[];
}

/** Whether it is the slice of a payload in a part. */
export const isSlice = ({ field, depth, kind }: Token) => field === 'json' && depth === 1 && kind === 'string';

/** Finds one text. @param mark what takes its place: a text without anything that JSON escapes */
export function findText(search: Search, mark: string): Finder {
  const inJson = (json: string, isLeft?: (token: Token) => boolean) =>
    findInJson(json, search, isLeft).map(({ start, end, isNumber }) => ({
      start,
      end,
      text: isNumber ? JSON.stringify(mark) : mark,
    }));
  return {
    inText: (text) => findPlaces(text, search).map((place) => ({ ...place, text: mark })),
    inJson: (json) => inJson(json),
    inPart: (json) => inJson(json, (token) => isOwn(token) || isSlice(token)),
  };
}

/** Replaces pieces of a text. */
export function replaceEach(text: string, places: readonly Replacement[]): string {
  let replaced = '';
  let from = 0;
  for (const place of places) {
    replaced += text.slice(from, place.start) + place.text;
    from = place.end;
  }
  return replaced + text.slice(from);
}
