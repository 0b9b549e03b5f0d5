import type { Term } from '../../contract/query.ts';
import type { IndexedWord, WordsWanted } from '../store/words.ts';
import { cutText, identifierStart, lowerCase } from './cut.ts';
import { hasParts, isWhole, LONGEST_WORD } from './words.ts';

/** An identifier that was asked for. It is also found where it is written in another case: `JavaScript` in `javascript`, `getUser` in `get_user`. */
interface Unit {
  whole: string;
  parts: readonly string[];
  /** Nothing may stand between it and the one before. */
  joined: boolean;
}

/** A term made ready to be looked for. */
export interface Wanted {
  units: readonly Unit[];
  prefix: boolean;
  not: boolean;
  /** What a chunk must have to hold it. */
  indexed: WordsWanted;
  /** The words of a chunk tell for certain whether it holds the term. */
  exact: boolean;
  /** Finds where it might stand. */
  trace: RegExp;
}

/** @returns undefined for a term without a word */
export function prepareTerm({ text: given, prefix, not }: Term): Wanted | undefined {
  const text = given.normalize('NFC');
  const units: Unit[] = [];
  let denseEnd = -1;
  cutText(text, 0, (cuts, isDense) => {
    const [start, end] = rangeOf(cuts);
    const parts = partsOf(cuts).map(([from, to]) => lowerCase(text.slice(from, to)));
    units.push({ whole: lowerCase(text.slice(start, end)), parts, joined: isDense && denseEnd === start });
    denseEnd = isDense ? end : -1;
    return true;
  });
  const last = units.at(-1);
  if (last === undefined) return undefined;
  const isOpen = prefix === true && denseEnd < 0;
  const indexed = indexedOf(units, isOpen);
  const isSingle = units.length === 1 || (last.joined && indexed.length === 1);
  const exact = isSingle && last.parts.length === 1 && last.whole.length < LONGEST_WORD;
  return { units, prefix: isOpen, not: not === true, indexed, exact, trace: traceOf(units) };
}

/** Beginnings of words that the index is asked for, at least; a shorter one is in a part of everything. */
const SHORTEST_OPEN = 3;

function indexedOf(units: readonly Unit[], isOpen: boolean): IndexedWord[][][] {
  return units.flatMap(({ whole, parts, joined }, n) => {
    const open = isOpen && n === units.length - 1;
    // `src/q*`: too many words begin so; the others lead to where it may be.
    const isVague = open && units.length > 1 && whole.length < SHORTEST_OPEN;
    if (isVague) return [];
    // Of dense writing a pair says more than each of its characters.
    if (joined) return [[[{ word: (units[n - 1] as Unit).whole + whole, open: false }]]];
    if (units[n + 1]?.joined) return [];
    const asWhole = [{ word: whole.slice(0, LONGEST_WORD), open }];
    if (parts.length === 1) return [[asWhole]];
    const inParts = parts
      .map((word, at) => ({ word: word.slice(0, LONGEST_WORD), open: open && at === parts.length - 1 }))
      .filter((one) => !one.open || one.word.length >= SHORTEST_OPEN);
    return [[asWhole, inParts]];
  });
}

const BETWEEN = '[^\\p{L}\\p{N}\\p{M}]*';

const traceOf = (units: readonly Unit[]) =>
  new RegExp(
    units.map(({ parts, joined }, n) => (n > 0 && !joined ? BETWEEN : '') + parts.join(BETWEEN)).join(''),
    'giu',
  );

type Range = [start: number, end: number];

const rangeOf = (cuts: readonly number[]): Range => [cuts[0] as number, cuts.at(-1) as number];

/** The smallest words of an identifier; of a random one, itself. */
function partsOf(cuts: readonly number[]): Range[] {
  const [start, end] = rangeOf(cuts);
  if (!hasParts(end - start, cuts.length - 1)) return [[start, end]];
  return cuts.slice(1).map((cut, n) => [cuts[n] as number, cut]);
}

/** Where the term stands in the text first, from a place on and before another. */
export function findTerm(text: string, wanted: Wanted, from = 0, to = text.length): Range | undefined {
  const { trace } = wanted;
  trace.lastIndex = from;
  for (let match = trace.exec(text); match && match.index < to; match = trace.exec(text)) {
    const end = endAt(text, match.index, wanted);
    if (end !== undefined) return [match.index, end];
    // In the middle of a pair the search would begin at its first half again, for ever.
    trace.lastIndex = match.index + ((text.codePointAt(match.index) as number) > 0xffff ? 2 : 1);
  }
  return undefined;
}

/** A smallest word of the text, and where the identifier ends that it begins. */
interface Word {
  range: Range;
  wholeEnd?: number;
}

/** Where the term ends that begins at `at`, if it is one there. */
function endAt(text: string, at: number, { units, prefix }: Wanted): number | undefined {
  const words = wordsFrom(
    text,
    at,
    units.reduce((sum, { parts }) => sum + parts.length, 0),
  );
  const equals = ([start, end]: Range, word: string, isOpen: boolean) => {
    const there = lowerCase(text.slice(start, end));
    return isOpen ? there.startsWith(word) : there === word;
  };

  function follow(place: number, n: number): number | undefined {
    const unit = units[n];
    if (unit === undefined) return words[place - 1]?.range[1];
    const word = words[place];
    if (word === undefined || (unit.joined && word.range[0] !== words[place - 1]?.range[1])) return undefined;
    const open = prefix && n === units.length - 1;
    const { wholeEnd } = word;
    if (wholeEnd !== undefined && equals([word.range[0], wholeEnd], unit.whole, open)) {
      return follow(words.findIndex(({ range }) => range[1] === wholeEnd) + 1, n + 1);
    }
    if (equals(word.range, unit.whole, open)) return follow(place + 1, n + 1);
    const isThere = unit.parts.every((part, index) => {
      const there = words[place + index];
      return there !== undefined && equals(there.range, part, open && index === unit.parts.length - 1);
    });
    return isThere ? follow(place + unit.parts.length, n + 1) : undefined;
  }

  return words[0]?.range[0] === at ? follow(0, 0) : undefined;
}

/** Longer ones are random, or nobody's. */
const LONGEST_IDENTIFIER = 256;

/** The words from a place on: those of so many identifiers. */
function wordsFrom(text: string, at: number, identifiers: number): Word[] {
  const words: Word[] = [];
  let count = 0;
  cutText(text, identifierStart(text, at, LONGEST_IDENTIFIER), (cuts) => {
    const [start, end] = rangeOf(cuts);
    if (end <= at) return true;
    for (const range of partsOf(cuts)) if (range[0] >= at) words.push({ range });
    const first = words.find(({ range }) => range[0] === start);
    if (first && isWhole(end - start, cuts.length - 1)) first.wholeEnd = end;
    return ++count < identifiers;
  });
  return words;
}
