import { findInJson, isOwn, type Token } from '../../../redact/json-places.ts';
import { findPlaces, type Place } from '../../../redact/places.ts';
import { createTextSearch } from '../../../redact/text-search.ts';
import { figureOf } from './figures.ts';

/** A piece of a text that is masked, and its replacement. */
export interface Replacement extends Place {
  text: string;
}

/** Finds the pieces that must be masked, in order and without overlaps. */
export interface Finder {
  /** How many characters of a joined payload a piece may take, so that pieces across its parts are found. */
  reach: number;
  /** Finds pieces in plain text. */
  inText(text: string): Replacement[];
  /** Finds pieces in a payload of an event of this type. Replacing them gives valid JSON. */
  inJson(json: string, eventType: string): Replacement[];
  /** Finds pieces in a part of a payload, except in its slice of the payload. The slices of all parts are searched together. */
  inPart(json: string): Replacement[];
}

/** Whether the token is the slice of a payload in a part. */
export const isSlice = ({ field, depth, kind }: Token) => field === 'json' && depth === 1 && kind === 'string';

/** How many characters one character of a text may take: `\u0022` within JSON within JSON takes 13. */
const MAX_ESCAPE = 16;
/** How many characters colours within a text may take. */
const COLOURS = 1_000;

/**
 * Finds one text, except in figures of events.
 * @param mark its replacement, which must have no character that JSON escapes
 * @param onLeft called with the name of a figure that contains the text and is left as it is
 */
export function findText(text: string, mark: string, onLeft: (field: string) => void = () => undefined): Finder {
  const search = createTextSearch(text);
  const { length } = text;
  function isFigure(eventType: string, json: string, token: Token): boolean {
    const field = figureOf(eventType, json, token);
    if (field === undefined) return false;
    const text = json.slice(token.start, token.end);
    const [place] = search(token.kind === 'number' ? text : JSON.parse(text));
    if (place && (token.kind !== 'number' || place.end - place.start === text.length)) onLeft(field);
    return true;
  }
  const inJson = (json: string, isLeft?: (token: Token) => boolean) =>
    findInJson(json, search, isLeft).map(({ start, end, isNumber }) => ({
      start,
      end,
      text: isNumber ? JSON.stringify(mark) : mark,
    }));
  return {
    reach: length * MAX_ESCAPE + COLOURS,
    inText: (text) => findPlaces(text, search).map((place) => ({ ...place, text: mark })),
    inJson: (json, eventType) => inJson(json, (token) => isOwn(token) || isFigure(eventType, json, token)),
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
