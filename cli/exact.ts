/** A number that may be more than a double holds: many digits, an exponent, or minus zero. In text it does no harm. */
const SUSPECT = /[:,[]\s*(?:-[0.]+\s*[,}\]]|-?(?:[\d.]{16}|[\d.]+[eE]))/;

/** Letters. The engine gives a pattern up after 50,000 steps back and tries another way, which takes 12 bytes a letter. */
const PIECE = 16 * 1024;
const BEFORE_NUMBER = ':,[';

/** A piece after the other, each from the last place where a number may begin: none is cut from what stands before it. */
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

/** Source text access is newer than the type library. */
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): unknown;
};

/** What is nested deeper stays text: the stack would not do for writing it. Real records have up to 20 levels. */
const MAX_DEPTH = 500;

/**
 * `JSON.parse` that keeps numbers it cannot represent as `JSON.rawJSON`, so that they are written as they were read.
 * @throws where it is no JSON, or nested more than 500 levels deep
 */
export function parseExact(text: string): unknown {
  const value = isSuspect(text) ? parse(text, keepInexact) : JSON.parse(text);
  if (text.length > 2 * MAX_DEPTH && isDeeper(value, MAX_DEPTH))
    throw new Error(`it is nested over ${MAX_DEPTH} levels deep`);
  return value;
}

/** Whether there are lists or objects within so many others. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    // A loop without closures: this runs for every value that is read.
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

/** One spelling per decimal number: 1.50, 15e-1 and 1.5 are the same. */
function toCanonical(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return `${sign}0`;
  return `${sign}${significant}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)}`;
}
