/** A value at the end of a path through JSON text. */
export interface JsonLeaf {
  /** Its JSON text as it stands there; `{}` or `[]` of an empty container. */
  text: string;
  /** What `step` has made of the path. */
  path: string;
  /** JSON text of the first name on the path. */
  top: string | undefined;
  /** Whether a name on the path is one that `flags`. */
  flagged: boolean;
  /** The path for a person, such as `/rest/items/0`. Valid until the next leaf is asked for. */
  pointer(): string;
}

interface Frame {
  path: string;
  /** JSON text of the name of its present member; the number of its present element. */
  at: string | number;
  /** The path of that. */
  inner: string;
  flagged: boolean;
}

/**
 * The leaves of valid JSON text, in order. Not recursive and one pass, however deep and long it is: a path is made from
 * the one before by `step(path, name)`, where `name` is a member's name as JSON text, or an element's number.
 */
export function* scanLeaves(
  text: string,
  step: (path: string, name: string) => string,
  flags: (name: string) => boolean,
): Generator<JsonLeaf> {
  const frames: Frame[] = [];
  const pointer = () => frames.map(({ at }) => `/${typeof at === 'number' ? at : readName(at)}`).join('');
  let at = 0;

  const skip = () => {
    at = endOfSpace(text, at);
  };
  const takeUpTo = (end: number): string => {
    const taken = text.slice(at, end);
    at = end;
    return taken;
  };

  /** Goes on to the next member or element of the innermost container. */
  function advance(frame: Frame, outer: Frame | undefined): void {
    if (typeof frame.at === 'number') frame.at++;
    else {
      skip();
      frame.at = takeUpTo(endOfString(text, at));
      at = text.indexOf(':', at) + 1;
    }
    frame.inner = step(frame.path, String(frame.at));
    frame.flagged = outer?.flagged === true || (typeof frame.at === 'string' && flags(frame.at));
  }

  for (;;) {
    skip();
    const leaf = takeLeaf();
    const frame = frames.at(-1);
    if (leaf === undefined) {
      const isArray = text[at++] === '[';
      const inner = { path: frame?.inner ?? '', at: isArray ? -1 : '', inner: '', flagged: false };
      frames.push(inner);
      advance(inner, frame);
      continue;
    }
    const top = frames[0]?.at;
    yield {
      text: leaf,
      path: frame?.inner ?? '',
      top: typeof top === 'string' ? top : undefined,
      flagged: frame?.flagged === true,
      pointer,
    };
    if (!close()) return;
  }

  /** Undefined where a container begins that has something in it. */
  function takeLeaf(): string | undefined {
    const first = text[at];
    if (first === '"') return takeUpTo(endOfString(text, at));
    if (first !== '{' && first !== '[') return takeUpTo(endOfScalar(text, at));
    const inner = endOfSpace(text, at + 1);
    if (text[inner] !== (first === '{' ? '}' : ']')) return undefined;
    at = inner + 1;
    return first === '{' ? '{}' : '[]';
  }

  /** Closes what ends here; false at the end of the text. */
  function close(): boolean {
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      skip();
      if (text[at++] === ',') {
        advance(frame, frames.at(-2));
        return true;
      }
      frames.pop();
    }
    return false;
  }
}

function endOfSpace(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) <= 0x20) at++;
  return at;
}

function endOfScalar(text: string, start: number): number {
  let at = start;
  while (at < text.length && !END_OF_SCALAR.has(text[at] as string)) at++;
  return at;
}

const END_OF_SCALAR = new Set([',', ']', '}', ' ', '\n', '\r', '\t']);

/** A quote ends a string unless an odd number of backslashes stands before it. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text[before - 1] === '\\') before--;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  throw new SyntaxError('a JSON string without an end');
}

const readName = (name: string) => String(JSON.parse(name)).replaceAll('~', '~0').replaceAll('/', '~1');
