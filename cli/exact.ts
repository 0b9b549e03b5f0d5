/** Finds numbers that a double may not represent: many digits, an exponent, or minus zero. A match inside a text does no harm. */
const SUSPECT = /[:,[]\s*(?:-[0.]+\s*[,}\]]|-?(?:[\d.]{16}|[\d.]+[eE]))/;

/**
 * Characters per piece. The engine abandons a pattern after 50,000 backtracks and switches to another method, which takes 12
 * bytes per character.
 */
const PIECE = 16 * 1024;
const BEFORE_NUMBER = ':,[';

/**
 * Tests one piece after the other. Each begins at the last place where a number may begin, so no number is cut off from the
 * characters before it.
 */
function isSuspect(text: string): boolean {
  for (let from = 0, length = PIECE; ; ) {
    const to = from + length;
    if (SUSPECT.test(text.slice(from, to))) return true;
    if (to >= text.length) return false;
    let last = to - 1;
    while (last > from && !BEFORE_NUMBER.includes(text.charAt(last))) last--;
    length = last > from ? PIECE : 2 * length;
    from = last;
  }
}

interface Context {
  source?: string;
}
type Reviver = (key: string, value: unknown, context: Context) => unknown;

/** The type library does not know source text access yet. */
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): unknown;
};

/** Deeper values stay text, because the stack would not suffice to write them. Real records have up to 20 levels. */
const MAX_DEPTH = 500;

/**
 * Like `JSON.parse`, but keeps numbers that a double cannot represent as `JSON.rawJSON`, so that they are written exactly as
 * they were read.
 * @throws if the text is not JSON, or is nested more than 500 levels deep
 */
export function parseExact(text: string): unknown {
  const value = isSuspect(text) ? parse(text, keepInexact) : JSON.parse(text);
  if (text.length > 2 * MAX_DEPTH && isDeeper(value, MAX_DEPTH))
    throw new Error(`it is nested over ${MAX_DEPTH} levels deep`);
  return value;
}

/** Whether lists or objects are nested deeper than this many levels. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    // A loop without closures, because this runs for every value that is read.
    for (let index = 0; index < value.length; index++) if (isDeeper(value[index], levels - 1)) return true;
    return false;
  }
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
  return false;
}

const keepInexact: Reviver = (_, value, { source }) =>
  typeof value !== 'number' || source === undefined || isSame(source, value) ? value : rawJSON(source);

const isSame = (source: string, value: number) =>
  toCanonical(source) === toCanonical(Object.is(value, -0) ? '0' : `${value}`);

/** Gives one spelling per decimal number: 1.50, 15e-1 and 1.5 are the same. */
function toCanonical(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return `${sign}0`;
  return `${sign}${significant}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)}`;
}
