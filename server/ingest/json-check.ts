/** Deeper than any record of an agent. */
const MOST_LEVELS = 1_000;

/** After so many characters others may be answered: 1 ms. */
const CHARACTERS_A_CHECK = 256 * 1024;

/**
 * Whether the text is one JSON value, as strictly as `JSON.parse` looks at it, of at most a thousand levels. That one
 * takes seconds for 12 MB of brackets, in one go; here `pause` is called with the characters looked at since.
 */
export async function isJson(text: string, pause: (characters: number) => Promise<void>): Promise<boolean> {
  const closers: number[] = [];
  let paused = 0;
  for (let at = skipSpace(text, 0); ; at = skipSpace(text, at)) {
    if (at - paused >= CHARACTERS_A_CHECK) {
      await pause(at - paused);
      paused = at;
    }
    const first = text.charCodeAt(at);
    if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
      if (closers.length === MOST_LEVELS) return false;
      const closer = first + 2;
      closers.push(closer);
      at = skipSpace(text, at + 1);
      if (text.charCodeAt(at) !== closer) {
        if (first === OPEN_OBJECT) at = endOfName(text, at);
        if (at < 0) return false;
        continue;
      }
    } else {
      at = first === QUOTE ? endOfString(text, at) : endOfScalar(text, at);
      if (at < 0) return false;
    }
    at = close(text, at, closers);
    if (at < 0) return false;
    if (closers.length === 0) return at === text.length;
    if (closers.at(-1) === CLOSE_OBJECT) at = endOfName(text, skipSpace(text, at));
    if (at < 0) return false;
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Takes off what ends here. Where the next member or element begins, or the end of the text; -1 where neither does. */
function close(text: string, start: number, closers: number[]): number {
  for (let at = start; ; at++) {
    at = skipSpace(text, at);
    if (closers.length === 0) return at;
    const code = text.charCodeAt(at);
    if (code === COMMA) return at + 1;
    if (code !== closers.at(-1)) return -1;
    closers.pop();
  }
}

function skipSpace(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09; ) {
    code = text.charCodeAt(++at);
  }
  return at;
}

/** Where the name and its colon end; -1 where there is none. */
function endOfName(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) return -1;
  const end = endOfString(text, start);
  const colon = end < 0 ? -1 : skipSpace(text, end);
  return text.charCodeAt(colon) === COLON ? colon + 1 : -1;
}

const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < 0x20) return -1;
    if (code !== BACKSLASH) continue;
    ESCAPE.lastIndex = at + 1;
    if (!ESCAPE.test(text)) return -1;
    at = ESCAPE.lastIndex - 1;
  }
  return -1;
}

const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;

function endOfScalar(text: string, start: number): number {
  SCALAR.lastIndex = start;
  return SCALAR.test(text) ? SCALAR.lastIndex : -1;
}
