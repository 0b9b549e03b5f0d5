import { findPlaces, type Place, type Search } from './places.ts';

/** A piece of a JSON text to be replaced. */
export interface JsonPlace extends Place {
  /** It is a whole number: what replaces it needs quotation marks. */
  isNumber: boolean;
}

/** A string or number of a JSON object. */
export interface Token extends Place {
  kind: 'key' | 'string' | 'number';
  /** 1 for the object itself. */
  depth: number;
  /** The field of the object that it is, or is in. */
  field: string;
}

// Unrolled, so that a long string does not fill the stack of the matcher. A colon behind a string tells a key.
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[[\]{}]|-?\d[\d.eE+-]*/g;

/** The strings and numbers of a JSON text, in order. */
export function* tokensOf(json: string): Generator<Token> {
  let depth = 0;
  let field = '';
  for (const { 0: token, 1: colon, index: start } of json.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (token[0] !== '"') yield { kind: 'number', depth, field, start, end: start + token.length };
    else {
      const end = start + token.length - (colon?.length ?? 0);
      if (depth === 1 && colon !== undefined) field = json.slice(start + 1, end - 1);
      yield { kind: colon === undefined ? 'string' : 'key', depth, field, start, end };
    }
  }
}

/**
 * Fields of an event that say when it happened, of which payload it is a part, and what was masked before. Nothing in them
 * is of a transcript.
 */
const OWN = new Set(['occurredAt', 'part', 'of', 'redactions']);
/** What a field is called; the text of a transcript stands in none. */
const NAME = /^[A-Za-z]{1,24}$/;

/**
 * Finds what a search finds in the strings of a JSON text, in its keys, and in its whole numbers. What is replaced there by
 * a text without anything to escape leaves a JSON text.
 */
export function findInJson(json: string, search: Search, isLeft: (token: Token) => boolean = isOwn): JsonPlace[] {
  const found: JsonPlace[] = [];
  for (const token of tokensOf(json)) {
    if (isLeft(token)) continue;
    const { kind, start, end } = token;
    if (kind === 'number') {
      const [place] = search(json.slice(start, end));
      if (place?.start === 0 && place.end === end - start) found.push({ start, end, isNumber: true });
      continue;
    }
    const inside = json.slice(start + 1, end - 1);
    if (kind === 'key' && token.depth === 1 && NAME.test(inside)) continue;
    for (const place of findPlaces(inside, search, true)) {
      found.push({ start: start + 1 + place.start, end: start + 1 + place.end, isNumber: false });
    }
  }
  return found;
}

/** Keys and numbers of the source say where the record stands. */
export const isOwn = ({ kind, field, depth }: Token): boolean =>
  OWN.has(field) && !(kind === 'key' && depth === 1) ? true : field === 'source' && depth > 1 && kind !== 'string';

/** Replaces pieces of a JSON text, which are in order. */
export function replaceInJson(json: string, places: readonly JsonPlace[], mark: string): string {
  let replaced = '';
  let from = 0;
  for (const { start, end, isNumber } of places) {
    replaced += json.slice(from, start) + (isNumber ? JSON.stringify(mark) : mark);
    from = end;
  }
  return replaced + json.slice(from);
}
