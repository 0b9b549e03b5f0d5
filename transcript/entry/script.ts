import { asObject, asText } from './value.ts';

/*
 * Codex 0.144 and later run tools from a script, the tool `exec`: `const r = await tools.exec_command({ cmd: "go test" })`. The
 * script is never run here. Only arguments that are literals are read, also if they are in a constant.
 */

/** A call of a tool. */
export interface ToolCall {
  name: string;
  input: unknown;
}

/** The calls that a call consists of: those in a script, as far as their arguments are literals; otherwise the call itself. */
export function callsOf(name: string, input: unknown): readonly ToolCall[] {
  const script = name === 'exec' ? asText(input) : undefined;
  const calls = script === undefined || script.length > MAX_SCRIPT ? [] : readScript(script);
  return calls.length > 0 ? calls : [{ name, input }];
}

const MAX_SCRIPT = 400_000;
const MAX_CALLS = 50;
const DEEPEST = 20;

interface Token {
  kind: 'word' | 'text' | 'number' | 'mark';
  /** The value of a text, otherwise the characters. */
  value: string;
  /** Set if a line ends before it. */
  startsLine?: true;
  /** For an opening bracket: the index of the token that closes it, or of the end of the script. */
  end?: number;
  /** For a closing bracket: the index of the token that opens it. */
  open?: number;
}

function readScript(script: string): ToolCall[] {
  const calls = new Reader(tokensOf(script)).readCalls();
  // The script says more than a call without its command.
  return calls.filter(({ name, input }) => name !== 'exec_command' || asText(asObject(input).cmd) !== undefined);
}

/** The value of an expression that is not a literal. */
const UNKNOWN = Symbol('unknown');

/** The values that a name has, one after the other, in a loop over a list of literals. */
class Each {
  readonly values: readonly unknown[];

  constructor(values: readonly unknown[]) {
    this.values = values;
  }
}

class Reader {
  readonly #tokens: readonly Token[];
  readonly #constants = new Map<string, unknown>();
  #at = 0;
  /** The characters that texts from constants may still have. Without a limit, constants that double each other fill the memory. */
  #room = MAX_SCRIPT;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  readCalls(): ToolCall[] {
    const calls: ToolCall[] = [];
    for (let at = 0; at < this.#tokens.length && calls.length < MAX_CALLS; at++) {
      if (this.#isWord(at, 'const') && this.#tokens[at + 1]?.kind === 'word' && this.#isMark(at + 2, '=')) {
        this.#readConstant(at);
      }
      this.#readLoop(at);
      calls.push(...this.#readCall(at));
    }
    return calls.slice(0, MAX_CALLS);
  }

  #isWord(at: number, value: string): boolean {
    const token = this.#tokens[at];
    return token?.kind === 'word' && token.value === value;
  }

  #isMark(at: number, value: string): boolean {
    const token = this.#tokens[at];
    return token?.kind === 'mark' && token.value === value;
  }

  #readConstant(at: number): void {
    this.#at = at + 3;
    const value = this.#readValue(0);
    const next = this.#tokens[this.#at];
    const isWhole = next === undefined || next.startsLine || (next.kind === 'mark' && /^[;,}]$/.test(next.value));
    const name = this.#tokens[at + 1]?.value ?? '';
    // A name with two values, each in its own block, is not a constant here.
    this.#constants.set(name, isWhole && !this.#constants.has(name) ? value : UNKNOWN);
  }

  /** `for (const name of [ … ])` or `[ … ].map((name) => …)`; in place of the name there may be `[name, other]`. */
  #readLoop(at: number): void {
    if (this.#isWord(at, 'of')) {
      this.#at = at + 1;
      const list = this.#readValue(0);
      const name = this.#tokens[at - 1]?.open ?? at - 1;
      if (this.#isWord(name - 1, 'const')) this.#bind(name, list);
    } else if (this.#isMark(at, '.') && /^(?:map|forEach)$/.test(this.#tokens[at + 1]?.value ?? '')) {
      const list = this.#valueBefore(at);
      let name = at + 3;
      if (this.#isWord(name, 'async')) name++;
      if (this.#isMark(name, '(')) name++;
      const after = this.#tokens[(this.#tokens[name]?.end ?? name) + 1];
      if (after?.kind === 'mark' && /^[),=]$/.test(after.value)) this.#bind(name, list);
    }
  }

  /** The value that ends before a token: a list, or a constant. */
  #valueBefore(at: number): unknown {
    const token = this.#tokens[at - 1];
    if (token?.kind === 'word') return this.#constants.get(token.value);
    if (token?.open === undefined) return UNKNOWN;
    this.#at = token.open;
    return this.#readOperand(0);
  }

  #bind(at: number, list: unknown): void {
    const token = this.#tokens[at];
    const values = Array.isArray(list) ? list : [];
    if (token?.kind === 'word') this.#constants.set(token.value, values.length > 0 ? new Each(values) : UNKNOWN);
    if (token?.end === undefined) return;
    let place = 0;
    for (let inside = at + 1; inside < token.end; inside++) {
      if (this.#isMark(inside, ',')) place++;
      else
        this.#bind(
          inside,
          values.map((value) => (Array.isArray(value) ? value[place] : undefined)),
        );
    }
  }

  /** `tools.name(…)` or `tools["name"](…)`; several calls if it is in a loop. */
  #readCall(at: number): ToolCall[] {
    if (!this.#isWord(at, 'tools') || this.#isMark(at - 1, '.')) return [];
    const isNamed = this.#isMark(at + 1, '.');
    const name = this.#tokens[at + 2]?.value;
    const open = isNamed ? at + 3 : at + 4;
    const isCall = isNamed || (this.#isMark(at + 1, '[') && this.#isMark(at + 3, ']'));
    if (!isCall || name === undefined || !this.#isMark(open, '(')) return [];
    this.#at = open + 1;
    const input = this.#readElement(0);
    return input === UNKNOWN ? [] : inputsOf(input).map((one) => ({ name, input: one }));
  }

  /** Reads the value of an argument, an element or a field. An expression that continues after it is unknown. */
  #readElement(depth: number): unknown {
    const value = this.#readValue(depth);
    if (this.#isEnd()) return value;
    while (this.#at < this.#tokens.length && !this.#isEnd()) this.#at = (this.#tokens[this.#at]?.end ?? this.#at) + 1;
    return UNKNOWN;
  }

  #isEnd(): boolean {
    const token = this.#tokens[this.#at];
    return token?.kind === 'mark' && /^[,)\]}]$/.test(token.value);
  }

  /** Texts may be joined by `+`, and lists of texts by `join`. */
  #readValue(depth: number): unknown {
    let value = this.#readOperand(depth);
    while (true) {
      if (this.#isMark(this.#at, '+') && typeof value === 'string') {
        this.#at++;
        const next = this.#readOperand(depth);
        value = typeof next === 'string' ? value + next : UNKNOWN;
      } else if (this.#isMark(this.#at, '.') && this.#isWord(this.#at + 1, 'join') && this.#isMark(this.#at + 2, '(')) {
        const between = this.#tokens[this.#at + 3];
        this.#at = (this.#tokens[this.#at + 2]?.end ?? this.#tokens.length) + 1;
        const isJoined = Array.isArray(value) && value.every((item) => typeof item === 'string');
        const room = isJoined && between?.kind === 'text' && this.#take(between.value.length * (value as []).length);
        value = room ? (value as string[]).join(between.value) : UNKNOWN;
      } else return value;
    }
  }

  #readOperand(depth: number): unknown {
    const token = this.#tokens[this.#at];
    if (!token || depth > DEEPEST || this.#isEnd()) return UNKNOWN;
    this.#at++;
    if (token.kind === 'text') return token.value;
    if (token.kind === 'number') return Number(token.value.replaceAll('_', ''));
    if (token.kind === 'word') {
      if (WORDS.has(token.value)) return WORDS.get(token.value);
      const value = this.#constants.has(token.value) ? this.#constants.get(token.value) : UNKNOWN;
      return typeof value !== 'string' || this.#take(value.length) ? value : UNKNOWN;
    }
    if (token.end === undefined || (token.value !== '[' && token.value !== '{')) {
      this.#at--;
      return UNKNOWN;
    }
    const value = token.value === '[' ? this.#readList(token.end, depth) : this.#readObject(token.end, depth);
    this.#at = token.end + 1;
    return value;
  }

  #take(length: number): boolean {
    this.#room -= length;
    return this.#room >= 0;
  }

  /** A list with an unknown element is unknown. */
  #readList(end: number, depth: number): unknown {
    const list: unknown[] = [];
    while (this.#at < end) {
      list.push(this.#readElement(depth + 1));
      this.#at++;
    }
    return list.includes(UNKNOWN) ? UNKNOWN : list;
  }

  /** The known fields of an object. */
  #readObject(end: number, depth: number): unknown {
    const fields: [string, unknown][] = [];
    while (this.#at < end) {
      const name = this.#tokens[this.#at];
      const isField = name?.kind !== 'mark' && this.#isMark(this.#at + 1, ':');
      // `{ cmd }` is a field too. Anything else, such as a spread, is skipped.
      const isShort = name?.kind === 'word' && !isField && /^[,}]$/.test(this.#tokens[this.#at + 1]?.value ?? '');
      if (isField) this.#at += 2;
      const value = this.#readElement(depth + 1);
      if (name && (isField || isShort) && value !== UNKNOWN) fields.push([name.value, value]);
      this.#at++;
    }
    return Object.fromEntries(fields);
  }
}

/** The inputs of a call, one for each value of a name in a loop. */
function inputsOf(input: unknown): unknown[] {
  if (input instanceof Each) return input.values.slice(0, MAX_CALLS);
  const fields = Object.entries(asObject(input));
  const loop = fields.map(([, value]) => value).find((value) => value instanceof Each);
  if (!loop) return [input];
  return loop.values
    .slice(0, MAX_CALLS)
    .map((_, at) =>
      Object.fromEntries(fields.map(([name, value]) => [name, value instanceof Each ? value.values[at] : value])),
    );
}

const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['undefined', undefined],
]);

const BLANK = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))+/y;
const WORD = /[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const NUMBER = /(?:0[xob])?[\d_]+(?:\.\d+)?(?:e[-+]?\d+)?n?/iy;
const EXPRESSION = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
/** After these, a slash begins a regular expression. After a value it divides. */
const BEFORE_VALUE = /^[([{,;:=!&|?+\-*%<>~^]$/;
const CLOSES: { readonly [open: string]: string } = { '(': ')', '[': ']', '{': '}' };

function tokensOf(script: string): Token[] {
  const tokens: Token[] = [];
  const open: number[] = [];
  for (let at = 0; at < script.length; ) {
    const blank = match(BLANK, script, at);
    at += blank.length;
    if (at >= script.length) break;
    const { token, next } = readToken(script, at, tokens.at(-1));
    if (blank.includes('\n')) token.startsLine = true;
    at = next;
    if (token.kind === 'mark') {
      const last = open.at(-1) ?? -1;
      const opener = tokens[last];
      if (Object.hasOwn(CLOSES, token.value)) open.push(tokens.length);
      else if (opener && CLOSES[opener.value] === token.value) {
        opener.end = tokens.length;
        token.open = last;
        open.pop();
      }
    }
    tokens.push(token);
  }
  for (const at of open) (tokens[at] as Token).end = tokens.length;
  return tokens;
}

function readToken(script: string, at: number, before: Token | undefined, depth = 0): { token: Token; next: number } {
  const character = script[at] as string;
  if (character === '"' || character === "'") return readText(script, at);
  if (character === '`') return readTemplate(script, at, before?.kind === 'word' && before.value === 'raw', depth);
  const word = match(WORD, script, at);
  if (word) return { token: { kind: 'word', value: word }, next: at + word.length };
  const number = /\d/.test(character) ? match(NUMBER, script, at) : '';
  if (number) return { token: { kind: 'number', value: number }, next: at + number.length };
  const mayBegin =
    before === undefined || (before.kind === 'mark' && BEFORE_VALUE.test(before.value)) || before.value === 'return';
  const expression = character === '/' && mayBegin ? match(EXPRESSION, script, at) : '';
  const value = expression || character;
  return { token: { kind: 'mark', value }, next: at + value.length };
}

function match(pattern: RegExp, script: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(script)?.[0] ?? '';
}

/** A text in quotes. A text without its end has no value. */
function readText(script: string, at: number): { token: Token; next: number } {
  const quote = script[at];
  let value = '';
  let next = at + 1;
  while (next < script.length && script[next] !== quote && script[next] !== '\n') {
    const [character, length] = readCharacter(script, next);
    value += character;
    next += length;
  }
  const isClosed = script[next] === quote;
  return { token: isClosed ? { kind: 'text', value } : { kind: 'mark', value: '' }, next: next + 1 };
}

/** A template is a literal unless it inserts a value. `String.raw` keeps backslashes. */
function readTemplate(script: string, at: number, isRaw: boolean, depth: number): { token: Token; next: number } {
  let value = '';
  let next = at + 1;
  let inserts = false;
  while (next < script.length && script[next] !== '`') {
    if (script.startsWith('${', next)) {
      inserts = true;
      next = endOfInsert(script, next + 2, depth + 1);
      continue;
    }
    const [character, length] = readCharacter(script, next);
    value += isRaw ? script.slice(next, next + length) : character;
    next += length;
  }
  const isLiteral = !inserts && script[next] === '`';
  return { token: isLiteral ? { kind: 'text', value } : { kind: 'mark', value: '' }, next: next + 1 };
}

/** Reads past the `}` that ends a value in a template. */
function endOfInsert(script: string, from: number, nesting: number): number {
  if (nesting > DEEPEST) return script.length;
  let depth = 0;
  let before: Token | undefined;
  for (let at = from; at < script.length; ) {
    at += match(BLANK, script, at).length;
    if (at >= script.length) break;
    if (script[at] === '}' && depth === 0) return at + 1;
    const { token, next } = readToken(script, at, before, nesting);
    if (token.kind === 'mark') depth += token.value === '{' ? 1 : token.value === '}' ? -1 : 0;
    before = token;
    at = next;
  }
  return script.length;
}

const ESCAPES: { readonly [letter: string]: string } = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  0: '\0',
};
const CODE = /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2}))/iy;

/** @returns the character at an index, and its length in the script */
function readCharacter(script: string, at: number): [character: string, length: number] {
  const character = script[at] as string;
  if (character !== '\\') return [character, 1];
  CODE.lastIndex = at;
  const [code, ...digits] = CODE.exec(script) ?? [];
  if (code !== undefined) {
    const number = Number.parseInt(digits.find(Boolean) ?? '0', 16);
    return [number <= 0x10ffff ? String.fromCodePoint(number) : '', code.length];
  }
  const letter = script[at + 1] ?? '';
  // A backslash before a line end joins the lines.
  if (letter === '\n' || letter === '\r') return ['', script.startsWith('\r\n', at + 1) ? 3 : 2];
  return [ESCAPES[letter] ?? letter, 2];
}
