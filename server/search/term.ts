import type { SearchedTerm } from '../../contract/query.ts';
import type { IndexedWord, WordsWanted } from '../store/word-index.ts';
import { cutText, identifierStart, lowerCase, outsidePair } from './cut.ts';
import { hasParts, isWhole, MAX_WORD } from './words.ts';

/** An identifier of a term. It matches other spellings too: `JavaScript` `javascript`, and `getUser` `get_user`. */
interface Unit {
  whole: string;
  parts: readonly string[];
  /** It is a character of writing without spaces. */
  isDense: boolean;
  /** It directly follows the previous one. */
  joined: boolean;
}

/** A term, prepared for searching. */
export interface Wanted {
  units: readonly Unit[];
  prefix: boolean;
  not: boolean;
  /** The words that every chunk with the term has. */
  indexed: WordsWanted;
  /** Expressions that match the JSON of every event with the term; see `inJsonOf`. */
  inJson: readonly RegExp[];
  /** Words that prove that a row has the term; absent if words cannot prove it. */
  sure?: WordsWanted;
  /** The words of every other chunk with the term; absent if there is no other. */
  unsure?: WordsWanted;
  /** Finds possible places of the term by its first `traced` words, which span at most `reach` code units. */
  trace: RegExp;
  traced: number;
  reach: number;
}

/** @returns undefined for a term without a word */
export function prepareTerm({ text: given, prefix, not }: SearchedTerm): Wanted | undefined {
  const text = given.normalize('NFC');
  const units: Unit[] = [];
  let denseEnd = -1;
  let beginsDense = false;
  cutText(text, 0, (cuts, isDense) => {
    const [start, end] = rangeOf(cuts);
    const parts = partsOf(cuts).map(([from, to]) => lowerCase(text.slice(from, to)));
    units.push({ whole: lowerCase(text.slice(start, end)), parts, isDense, joined: isDense && denseEnd === start });
    denseEnd = isDense ? end : -1;
    beginsDense ||= isDense && units.length === 1;
    return true;
  });
  const last = units.at(-1);
  if (last === undefined) return undefined;
  const isDense = denseEnd >= 0;
  const isOpen = prefix === true && !isDense;
  const indexed = [...indexedOf(units, isOpen), ...pairsOf(units, isOpen)];
  const isSingle = units.length === 1 || (last.joined && indexed.length === 1);
  const isWord = isSingle && last.whole.length < MAX_WORD;
  const inParts = last.parts.length > 1;
  const sure = inParts ? [[[{ word: last.whole, open: isOpen }]]] : indexed;
  // The whole identifier is not among them, because the signatures of too many chunks claim to have it.
  const unsure = inParts ? indexed.map((alternatives) => alternatives.slice(1)) : undefined;
  const trace = traceOf(units, { before: beginsDense, behind: isDense || isOpen });
  return {
    units,
    prefix: isOpen,
    not: not === true,
    indexed,
    inJson: inJsonOf(units),
    ...(isWord ? { sure, ...(unsure && { unsure }) } : { unsure: indexed }),
    ...trace,
  };
}

/** The shortest prefix that is looked up in the index. Shorter ones match a part of everything. */
const MIN_OPEN = 3;

function indexedOf(units: readonly Unit[], isOpen: boolean): IndexedWord[][][] {
  return units.flatMap(({ whole, parts, joined }, n) => {
    const open = isOpen && n === units.length - 1;
    // For `src/q*`, too many words begin with `q`. The words before it narrow the search instead.
    const isVague = open && units.length > 1 && whole.length < MIN_OPEN;
    if (isVague) return [];
    // In writing without spaces, a pair of characters is rarer than each of them.
    if (joined) return [[[{ word: (units[n - 1] as Unit).whole + whole, open: false }]]];
    if (units[n + 1]?.joined) return [];
    const asWhole = [{ word: whole.slice(0, MAX_WORD), open }];
    if (parts.length === 1) return [[asWhole]];
    const inParts = parts
      .map((word, at) => ({ word: word.slice(0, MAX_WORD), open: open && at === parts.length - 1 }))
      .filter((one) => !one.open || one.word.length >= MIN_OPEN);
    const pairs = parts.slice(1, open ? -1 : undefined).map((word, at) => after(parts[at] as string, word));
    return [[asWhole, [...inParts, ...pairs]]];
  });
}

const after = (one: string, next: string): IndexedWord => ({
  word: next.slice(0, MAX_WORD),
  open: false,
  after: one.slice(0, MAX_WORD),
});

/** The pairs of words where one of the first identifiers follows another. A text may have each of them whole or in parts. */
function pairsOf(units: readonly Unit[], isOpen: boolean): IndexedWord[][][] {
  return units.slice(1, MAX_TRACED).flatMap((next, n) => {
    const one = units[n] as Unit;
    const isVague = isOpen && next === units.at(-1);
    if (isVague || one.isDense || next.isDense) return [];
    const lasts = new Set([one.whole, one.parts.at(-1) as string]);
    const firsts = new Set([next.whole, next.parts[0] as string]);
    return [[...lasts].flatMap((last) => [...firsts].map((first) => [after(last, first)]))];
  });
}

/** Parts of an expression that traces words. They respect the case of letters, so that `error` does not match `errors`. */
interface Around {
  gap: string;
  beginning: string;
  end: string;
}

const ANY: Around = {
  gap: '(?-i:[^\\p{L}\\p{N}\\p{M}])',
  beginning: '(?-i:(?<!\\p{Ll})|(?=\\p{Lu}))',
  end: '(?-i:(?!\\p{Ll}))',
};
/**
 * For words of ASCII. Other letters count as signs, so the expression finds more places, but it is compiled in 0.2 instead of 9 ms.
 * Without the flag `u`, V8 would miss matches before which a lookbehind fails.
 */
const ASCII: Around = {
  gap: '[^a-z0-9]',
  beginning: '(?-i:(?<![a-z])|(?![a-z]))',
  end: '(?-i:(?![a-z]))',
};

/** The most words of a term that the expression searches for. The words after them are compared where it matches. */
const MAX_TRACED = 8;
/** The widest gap between two words that the expression follows, so that its reach is bounded. */
const WIDEST_GAP = 64;

function traceOf(
  units: readonly Unit[],
  isOpen: Record<'before' | 'behind', boolean>,
): Pick<Wanted, 'trace' | 'traced' | 'reach'> {
  const words: string[] = [];
  for (const { parts, joined } of units)
    if (joined) words.push((words.pop() ?? '') + parts.join(''));
    else words.push(...parts);
  const traced = words.slice(0, MAX_TRACED);
  const { gap, ...around } = traced.every((word) => /^[a-z0-9]+$/.test(word)) ? ASCII : ANY;
  const [beginning, end] = [
    isOpen.before ? '' : around.beginning,
    isOpen.behind || words.length > MAX_TRACED ? '' : around.end,
  ];
  const expression = traced
    .with(-1, `${traced.at(-1)}${end}`)
    .reduceRight((next, word) => `${word}(?:${gap}*${next}|${gap}{${WIDEST_GAP}})`);
  // Gaps may consist of surrogate pairs, and a gap also follows the last word.
  const reach = traced.join('').length + 2 * WIDEST_GAP * traced.length;
  return { trace: new RegExp(`${beginning}${expression}`, 'giu'), traced: traced.length, reach };
}

/**
 * Signs between two words in JSON, with one byte in each code unit. JSON escapes no letter or digit of ASCII except as `\\u0061`, but writes some signs
 * as a letter after one or more backslashes. Each code unit fits only one alternative, so a search takes linear time.
 */
const GAP_IN_JSON = '(?:[^a-z0-9]|(?<=\\\\)[bfnrt])*';

/**
 * Behind the words of a key, such as `gitBranch`, which no search finds but every event may have. The rest of a longer key is not
 * read, because each match in a long text would read it again.
 */
const NOT_IN_KEY = '(?![^"\\\\]{0,64}":)';

/**
 * Expressions that match the JSON of every event with the words, unless `isDisguised`. They find few other events, so that
 * hardly any is parsed in vain. Words with other letters than those of ASCII are left out.
 */
function inJsonOf(units: readonly Unit[]): RegExp[] {
  const runs: string[][] = [[]];
  for (const part of units.flatMap(({ parts }) => parts).slice(0, MAX_TRACED))
    if (/^[a-z0-9]+$/.test(part)) runs.at(-1)?.push(part);
    else runs.push([]);
  return runs.flatMap((run) => (run.length > 0 ? [new RegExp(run.join(GAP_IN_JSON) + NOT_IN_KEY, 'i')] : []));
}

/**
 * Whether the JSON of an event may hide letters of a word: with an escape such as `\\u0061`, which control sequences of terminals also have; at
 * the end of a part; or as the Kelvin sign, which Unicode normalizes to K.
 */
export const isDisguised = (json: string): boolean => /\\u|"part"|\xe2\x84\xaa/.test(json);

type Range = [start: number, end: number];

const rangeOf = (cuts: readonly number[]): Range => [cuts[0] as number, cuts.at(-1) as number];

/** The words of an identifier; a random one is a word as a whole. */
function partsOf(cuts: readonly number[]): Range[] {
  const [start, end] = rangeOf(cuts);
  if (!hasParts(end - start, cuts.length - 1)) return [[start, end]];
  return cuts.slice(1).map((cut, n) => [cuts[n] as number, cut]);
}

/** How many words may still be compared. A comparison takes about 1 µs the first time. */
export interface Effort {
  left: number;
}

/** Code units that the expression searches in the time of one word comparison. */
const TRACED_FOR_A_WORD = 64;
/** Code units that the expression searches at once, besides its reach: 2 ms for a term of many words. */
const TRACED_AT_ONCE = 16 * 1024;

/**
 * Finds the first match of a term that begins in a section of a text.
 * @returns the range of the match; undefined if there is none; the index to continue from if no effort is left
 */
export function findTerm(text: string, wanted: Wanted, from?: number, to?: number): Range | undefined;
export function findTerm(
  ...given: [text: string, wanted: Wanted, from: number, to: number, effort: Effort]
): Range | number | undefined;
export function findTerm(
  text: string,
  wanted: Wanted,
  from = 0,
  to = text.length,
  effort: Effort = { left: Number.POSITIVE_INFINITY },
): Range | number | undefined {
  const wordsFrom = createWords(text);
  for (let next = from; next < to; ) {
    if (effort.left <= 0) return next;
    const end = Math.min(to, outsidePair(text, next + TRACED_AT_ONCE));
    const at = traceIn(text, wanted, next, end);
    effort.left -= 1 + (((at ?? end) - next) * wanted.traced) / TRACED_FOR_A_WORD;
    next = end;
    if (at === undefined) continue;
    const wordAt = wordsFrom(at, effort);
    const termEnd = wordAt(0)?.start === at ? endOf(wordAt, wanted) : undefined;
    if (termEnd !== undefined) return [at, termEnd];
    // A match begins at the beginning of a word.
    const word = [wordAt(0), wordAt(1)].find((word) => word !== undefined && word.start > at);
    if (word === undefined) return undefined;
    // A search that starts inside a surrogate pair would start at its first half again, forever.
    next = Math.max(word.start, at + ((text.codePointAt(at) as number) > 0xffff ? 2 : 1));
  }
  return undefined;
}

/** The first possible place of the term in a section of the text. It reads no further than the reach of the term. */
function traceIn(text: string, { trace, reach }: Wanted, from: number, to: number): number | undefined {
  const begin = outsidePair(text, Math.max(0, from - 1));
  trace.lastIndex = from - begin;
  const match = trace.exec(text.slice(begin, to + reach));
  return match && begin + match.index < to ? begin + match.index : undefined;
}

/** A word of the text in lower case. If it begins an identifier, also the identifier and its number of words. */
interface Word {
  start: number;
  end: number;
  word: string;
  whole?: { word: string; words: number };
}

type WordAt = (place: number) => Word | undefined;

/** The end of the term if it begins with the first word; undefined if it does not. */
function endOf(wordAt: WordAt, { units, prefix }: Wanted): number | undefined {
  const equals = (there: string, word: string, isOpen: boolean) => (isOpen ? there.startsWith(word) : there === word);
  let place = 0;
  for (const [n, unit] of units.entries()) {
    const word = wordAt(place);
    if (word === undefined || (unit.joined && word.start !== wordAt(place - 1)?.end)) return undefined;
    const open = prefix && n === units.length - 1;
    const { whole } = word;
    if (whole && equals(whole.word, unit.whole, open)) place += whole.words;
    else if (equals(word.word, unit.whole, open)) place++;
    else {
      const isThere = unit.parts.every((part, index) => {
        const there = wordAt(place + index);
        return there !== undefined && equals(there.word, part, open && index === unit.parts.length - 1);
      });
      if (!isThere) return undefined;
      place += unit.parts.length;
    }
  }
  return wordAt(place - 1)?.end;
}

/**
 * The words of a text from an index on. The indexes must ascend. Each word is cut when it is needed, and only once.
 */
function createWords(text: string): (at: number, effort: Effort) => WordAt {
  let words: Word[] = [];
  /** Index of the first word that is still needed. */
  let first = 0;
  let next = 0;

  function leaveBehind(at: number): void {
    while (first < words.length && (words[first] as Word).start < at) first++;
    if (first === words.length) {
      words = [];
      first = 0;
      if (next <= at) next = Math.max(next, identifierStart(text, at));
    } else if (first > MAX_BEHIND) {
      words = words.slice(first);
      first = 0;
    }
  }

  function cutNext(at: number): void {
    const from = next;
    next = text.length;
    cutText(text, from, (cuts) => {
      const [start, end] = rangeOf(cuts);
      if (end <= at) return true;
      next = end;
      const parts: Word[] = partsOf(cuts).map(([start, end]) => ({
        start,
        end,
        word: lowerCase(text.slice(start, end)),
      }));
      const first = parts[0] as Word;
      if (isWhole(end - start, cuts.length - 1))
        first.whole = { word: parts.length > 1 ? lowerCase(text.slice(start, end)) : first.word, words: parts.length };
      words.push(...parts.filter(({ start }) => start >= at));
      return false;
    });
  }

  return (at, effort) => {
    leaveBehind(at);
    return (place) => {
      effort.left--;
      while (words.length - first <= place && next < text.length) cutNext(at);
      return words[first + place];
    };
  };
}

const MAX_BEHIND = 1_000;
