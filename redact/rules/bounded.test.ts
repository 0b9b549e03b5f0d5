import { expect, test } from 'vitest';
import { RULES } from './all.ts';

/**
 * V8's matcher backtracks. So a pattern is safe here under three conditions: each repetition has an upper bound, no
 * repetition varies inside another, and there are few ways to divide letters among neighbouring repetitions. Then the work at
 * one keyword is bounded, and the work on a text grows with the number of its keywords. `bench.ts --growth` measures it.
 */
const MAX_WAYS = 20_000;

interface Piece {
  source: string;
  min: number;
  max: number;
  /** Alternatives, if it is a group. */
  inner: Piece[][];
}

const PATTERNS = RULES.map(({ id, pattern }) => [id, pattern] as const);

test.each(PATTERNS)('%s does bounded work', (_id, pattern) => {
  const alternatives = parse(pattern.source);
  expect(findUnbounded(alternatives)).toEqual([]);
  expect(findNested(alternatives)).toEqual([]);
  expect(Math.max(...alternatives.map((pieces) => countWays(pieces, pattern.flags)))).toBeLessThan(MAX_WAYS);
});

test('the check itself distinguishes a bad pattern from a good one', () => {
  expect(findUnbounded(parse('a+'))).toEqual(['a']);
  expect(findUnbounded(parse('[a+]{2,5}\\+'))).toEqual([]);
  expect(findNested(parse('(?:a{1,9}b?){2,9}'))).toEqual(['(?:a{1,9}b?)']);
  expect(countWays(parse('\\w{0,99}\\w{0,99}\\w{0,99}!')[0] ?? [], '')).toBe(1e6);
  expect(countWays(parse('\\w{0,99}-\\w{0,99}!')[0] ?? [], '')).toBe(100);
});

function findUnbounded(alternatives: Piece[][]): string[] {
  return alternatives
    .flat()
    .flatMap((piece) => [
      ...(piece.max === Number.POSITIVE_INFINITY ? [piece.source] : []),
      ...findUnbounded(piece.inner),
    ]);
}

function findNested(alternatives: Piece[][]): string[] {
  return alternatives
    .flat()
    .flatMap((piece) => [
      ...(piece.max > 1 && piece.inner.flat().some(varies) ? [piece.source] : []),
      ...findNested(piece.inner),
    ]);
}

function varies(piece: Piece): boolean {
  return piece.min !== piece.max || piece.inner.flat().some(varies);
}

/**
 * The product of the ranges of adjacent repetitions that nothing separates. The position of a piece is fixed if no repetition
 * before it could have taken its letters. Counting starts again there.
 */
function countWays(sequence: Piece[], flags: string, isEnd = true): number {
  const pieces = isEnd ? dropWhatCannotFail(sequence) : sequence;
  let worst = 1;
  let ways = 1;
  let varying: string[] = [];
  for (const [index, piece] of pieces.entries()) {
    const isLast = isEnd && index === pieces.length - 1;
    const inner = Math.max(1, ...piece.inner.map((alternative) => countWays(alternative, flags, isLast)));
    if (isLook(piece)) {
      // A lookaround is tried once, and its result is not tried again.
      worst = Math.max(worst, ways * inner);
      continue;
    }
    if (isApart(piece, varying, flags)) [ways, varying] = [1, []];
    ways *= inner * (piece.max - piece.min + 1);
    varying.push(...collectVarying(piece));
    worst = Math.max(worst, ways);
  }
  return worst;
}

/** Whether a piece begins with a letter that none of the repetitions before it could have taken. */
function isApart(piece: Piece, varying: string[], flags: string): boolean {
  if (piece.min === 0) return false;
  if (piece.inner.length === 0) return varying.every((one) => areDisjoint(one, piece.source, flags));
  return piece.inner.every(([first]) => first !== undefined && isApart(first, varying, flags));
}

/** After the last piece that must match, nothing makes the matcher backtrack. */
function dropWhatCannotFail(pieces: Piece[]): Piece[] {
  const kept = pieces.slice(0, pieces.findLastIndex((piece) => piece.min > 0 || isLook(piece)) + 1);
  const end = kept.at(-1);
  return end === undefined || isLook(end) ? kept : [...kept.slice(0, -1), { ...end, max: end.min }];
}

function isLook(piece: Piece): boolean {
  return /^\(\?<?[=!]/.test(piece.source);
}

function collectVarying(piece: Piece): string[] {
  const inner = piece.inner.flat().flatMap(collectVarying);
  return piece.min === piece.max ? inner : [...inner, piece.source];
}

function areDisjoint(one: string, other: string, flags: string): boolean {
  const [first, second] = [one, other].map((source) => new RegExp(`^${source}$`, flags.replace('y', '')));
  return !Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).some(
    (letter) => first?.test(letter) && second?.test(letter),
  );
}

function parse(source: string): Piece[][] {
  const alternatives: Piece[][] = [[]];
  let rest = source;
  while (rest !== '') {
    if (rest[0] === '|') {
      alternatives.push([]);
      rest = rest.slice(1);
      continue;
    }
    const length =
      rest[0] === '(' ? groupLength(rest) : (/^(?:\[(?:\\.|[^\]\\])*\]|\\x..|\\.|.)/.exec(rest)?.[0].length ?? 1);
    const piece = rest.slice(0, length);
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(rest.slice(length))?.[0] ?? '';
    const look = /^\(\?<?[=!]/.test(piece);
    const inner = rest[0] === '(' ? parse(piece.replace(/^\((?:\?(?:[:=!]|<[=!]))?/, '').slice(0, -1)) : [];
    const [min, max] = readQuantifier(quantifier);
    alternatives.at(-1)?.push({ source: piece, min: look ? 0 : min, max: look ? 0 : max, inner });
    rest = rest.slice(length + quantifier.length);
  }
  return alternatives;
}

function groupLength(text: string): number {
  let depth = 0;
  for (const match of text.matchAll(/\[(?:\\.|[^\]\\])*\]|\\.|[()]/g)) {
    if (match[0] === '(') depth++;
    if (match[0] === ')') depth--;
    if (depth === 0) return match.index + 1;
  }
  throw new Error(`unclosed group in ${text}`);
}

function readQuantifier(text: string): [number, number] {
  if (text === '') return [1, 1];
  if (text[0] === '?') return [0, 1];
  if (text[0] === '*') return [0, Number.POSITIVE_INFINITY];
  if (text[0] === '+') return [1, Number.POSITIVE_INFINITY];
  const [, min = '', comma, max = ''] = /(\d+)(,?)(\d*)/.exec(text) ?? [];
  return [Number(min), comma === '' ? Number(min) : max === '' ? Number.POSITIVE_INFINITY : Number(max)];
}
