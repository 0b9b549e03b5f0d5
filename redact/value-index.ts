import { writeForms } from './forms.ts';
import type { Span } from './mark.ts';
import { addHash, createHashFilter, HASHED_LETTERS, hashLetters, isCrowded } from './rolling-hash.ts';

/**
 * How many letters of a value, at least a third of it, must be at the end or the beginning of a text to show that the value
 * was cut there.
 */
const MIN_PIECE = 12;
/** How far into a text the second half of a value may reach. */
const MAX_PIECE = 2048;

/**
 * The most values that share their hashed letters. More of them would be a trap, because all are compared at each occurrence
 * of those letters.
 */
const MAX_ALIKE = 256;
const DEEPEST_ANCHOR = 8;

/** Insertions by a terminal, a pager or a program into a value that does not fit its line: line breaks, colours, joiners. */
const BREAK = new RegExp(
  [
    '\\\\{0,3}(?:\\r?\\n|\\\\(?:r\\\\{1,3})?n)[ \\t]{0,40}(?:[+>|][ \\t])?',
    '(?:\\u001b|\\\\{1,3}u001b)\\[[\\d;]{0,16}[mK]',
    '[\\u200b-\\u200d\\ufeff]',
  ].join('|'),
  'y',
);

export interface KnownValue {
  secret: string;
  /** The rule that names its mark. */
  rule: string;
}

interface Form extends KnownValue {
  text: string;
  /** The scope in which it applies. Undefined means everywhere. */
  scope: string | undefined;
  /** Where its hashed letters begin. A later position is better, since many tokens share their first letters. */
  anchor: number;
}

/** The scopes of a text. Secrets that were learned in one of them are masked in it. */
export type Scopes = ReadonlySet<string>;

export type ValueIndex = ReturnType<typeof createValueIndex>;

/**
 * Finds any number of values in all their forms. The scanner's filter nearly always says no; otherwise, one look-up and a
 * comparison follow. A value that is cut by the text's end or beginning is found as well, because output arrives in chunks.
 */
export function createValueIndex() {
  const starts = new Map<number, Form[]>();
  const ends = new Map<number, Form[]>();
  const scopes = new Map<string | undefined, Map<string, Form[]>>([[undefined, new Map()]]);
  let filter = createHashFilter([]);
  /** Hashes in the filter, including those of values dropped since it was built. */
  let filtered = 0;
  let version = 0;

  function add({ secret, rule }: KnownValue, scope?: string): boolean {
    const known = scopes.get(scope) ?? new Map<string, Form[]>();
    scopes.set(scope, known);
    if (known.has(secret) || scopes.get(undefined)?.has(secret)) return false;
    const forms = writeForms(secret).map((text): Form => {
      // Every piece must be long enough to include the hashed letters.
      const latest = Math.min(shortestPiece(text), text.length) - HASHED_LETTERS;
      return { text, secret, rule, scope, anchor: Math.min(DEEPEST_ANCHOR, latest) };
    });
    known.set(secret, forms);
    version++;
    for (const form of forms) {
      insert(starts, hashLetters(form.text, form.anchor), form);
      insert(ends, hashLetters(form.text, form.text.length - HASHED_LETTERS), form);
    }
    if (isCrowded(filter, filtered)) {
      filter = createHashFilter([...starts.keys(), ...ends.keys()]);
      filtered = starts.size + ends.size;
    }
    return true;
  }

  function insert(forms: Map<number, Form[]>, hash: number, form: Form): void {
    const sharing = forms.get(hash);
    if (sharing === undefined) forms.set(hash, [form]);
    // The longest comes first, because a secret wins over a shorter one that it begins with.
    else if (sharing.length < MAX_ALIKE)
      sharing.splice(sharing.findLastIndex(({ text }) => text.length >= form.text.length) + 1, 0, form);
    addHash(filter, hash);
    filtered++;
  }

  function drop(scope: string): void {
    for (const form of [...(scopes.get(scope)?.values() ?? [])].flat()) {
      remove(starts, hashLetters(form.text, form.anchor), form);
      remove(ends, hashLetters(form.text, form.text.length - HASHED_LETTERS), form);
    }
    scopes.delete(scope);
  }

  /** The value with these hashed letters, the eight before `end`. */
  function find(text: string, hash: number, end: number, active: Scopes): Span | undefined {
    const beginning = starts.get(hash);
    const ending = end <= MAX_PIECE ? ends.get(hash) : undefined;
    if (beginning === undefined && ending === undefined) return undefined;
    for (const read of [readWhole, readBroken]) {
      for (const form of beginning ?? []) {
        const start = end - HASHED_LETTERS - form.anchor;
        const formEnd = start >= 0 && isActive(form) ? read(form.text, text, start) : undefined;
        if (formEnd !== undefined) return { start, end: formEnd, rule: form.rule, secret: form.secret };
      }
    }
    const form = ending?.find((each) => isActive(each) && endsWithin(each.text, text, end));
    return form && { start: 0, end, rule: form.rule, secret: form.secret };

    function isActive({ scope }: Form): boolean {
      return scope === undefined || active.has(scope);
    }
  }

  return {
    /** Returns whether the value is new. */
    add,
    /** Forgets the values that only apply in a scope. */
    drop,
    find,
    filter: () => filter,
    /** Changes when a value is added. */
    version: () => version,
  };
}

function remove(forms: Map<number, Form[]>, hash: number, form: Form): void {
  const left = forms.get(hash)?.filter((each) => each !== form) ?? [];
  if (left.length === 0) forms.delete(hash);
  else forms.set(hash, left);
}

const readWhole = (form: string, text: string, start: number) =>
  text.startsWith(form, start) ? start + form.length : undefined;

/** Where a form ends that is cut by the end of the text or broken over lines. */
function readBroken(form: string, text: string, start: number): number | undefined {
  let at = start;
  for (let read = 0; read < form.length; read++, at++) {
    if (at === text.length) return isPiece(read, form) ? at : undefined;
    if (text.charCodeAt(at) === form.charCodeAt(read)) continue;
    BREAK.lastIndex = at;
    at += BREAK.exec(text)?.[0].length ?? 0;
    if (text.charCodeAt(at) !== form.charCodeAt(read)) return undefined;
  }
  return at;
}

/** Whether a text begins in the middle of a form that ends at `end`. */
function endsWithin(form: string, text: string, end: number): boolean {
  return isPiece(end, form) && form.endsWith(text.slice(0, end));
}

const isPiece = (length: number, form: string) => length < form.length && length >= shortestPiece(form);

const shortestPiece = (form: string) => Math.max(MIN_PIECE, Math.ceil(form.length / 3));
