import { findPlaces, type Place, type Search } from './places.ts';

/** A piece of a JSON text to be replaced. */
export interface JsonPlace extends Place {
  /** The piece is a whole number, so its replacement needs quotation marks. */
  isNumber: boolean;
}

/** A string or number of a JSON object. */
export interface Token extends Place {
  kind: 'key' | 'string' | 'number';
  /** 1 for the object itself. */
  depth: number;
  /** The field of the object that contains it. */
  field: string;
  /** The last key before it, or its own name if it is a key. */
  name: string;
}

// The loop is unrolled, so that a long string does not fill the matcher's stack. A colon after a string marks a key.
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[[\]{}]|-?\d[\d.eE+-]*/g;

/** The strings and numbers of a JSON text, in order. */
export function* tokensOf(json: string): Generator<Token> {
  let depth = 0;
  let field = '';
  let name = '';
  for (const { 0: token, 1: colon, index: start } of json.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (token[0] !== '"') yield { kind: 'number', depth, field, name, start, end: start + token.length };
    else {
      const end = start + token.length - (colon?.length ?? 0);
      if (colon !== undefined) name = json.slice(start + 1, end - 1);
      if (depth === 1 && colon !== undefined) field = name;
      yield { kind: colon === undefined ? 'string' : 'key', depth, field, name, start, end };
    }
  }
}

/**
 * Fields of an event for its time, for its payload if it is a part, and for what was masked before. They contain no text of a
 * transcript.
 */
const OWN = new Set(['occurredAt', 'part', 'of', 'redactions']);
/** The name of a field. Field names never contain text of a transcript. */
const NAME = /^[A-Za-z]{1,24}$/;

/**
 * Applies a search to the strings of a JSON text, its keys, and its whole numbers. If the replacement has nothing to escape,
 * the result is still a JSON text.
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

/** Keys and numbers of the source give the place of the record. */
export const isOwn = ({ kind, field, depth }: Token): boolean =>
  OWN.has(field) && !(kind === 'key' && depth === 1) ? true : field === 'source' && depth > 1 && kind !== 'string';
