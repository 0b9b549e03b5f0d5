import { showHidden } from './controls.ts';

/** A part of terminal output with one style. */
export interface Span {
  text: string;
  /** Class names; empty for plain text. */
  look: string;
  /** CSS colours of the terminal. Their classes make them readable in both themes. */
  color?: string;
  background?: string;
}

const SEQUENCES = new RegExp(
  [
    // Strings for the terminal: titles, links, the clipboard. An unterminated one hides only the rest of its line.
    '(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)?',
    // Control sequences other than SGR, including unusual ones.
    '(?:\\u001b\\[|\\u009b)[0-9:;<=>?]*[ -/]*[@-ln-~]',
    '(?:\\u001b\\[|\\u009b)[<=>?][0-9:;]*m',
    // All other escapes.
    '\\u001b(?!\\[[0-9:;]*m)[ -/]*[0-~]?',
  ].join('|'),
  'g',
);

/** Select graphic rendition: colours and the like. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression searches for the escape character
const SGR = /\u001b\[([0-9:;]*)m/;

/** The most styles in one text, since each becomes an element of the page. All text after them has the last style. */
const MAX_SPANS = 1_000;

/** Terminal output with its colours. All other controls are removed, and overwritten lines show their last state. */
export function readAnsi(output: string): Span[] {
  // Texts and codes alternate.
  const parts = overwrite(output.replace(SEQUENCES, '')).split(SGR);
  const state: Look = { decorations: new Set() };
  const spans: Span[] = [];
  for (const [index, part] of parts.entries()) {
    const last = spans.length === MAX_SPANS ? spans.at(-1) : undefined;
    if (index % 2 === 1) apply(state, codesOf(part));
    else if (last) last.text += showHidden(part);
    else if (part !== '') spans.push({ text: showHidden(part), ...describe(state) });
  }
  return spans;
}

/** Terminal output without any controls, for a line of preview. */
export const stripAnsi = (output: string): string =>
  showHidden(output.replace(SEQUENCES, '').replace(new RegExp(SGR, 'g'), ''));

/** The codes in force at the end of a text, according to its last lines. The following text begins with them. */
export function lookAfter(text: string): string {
  const codes = text.slice(-2_000).match(new RegExp(SGR, 'g')) ?? [];
  return codes.slice(codes.findLastIndex((code) => /\[0*m/.test(code)) + 1).join('');
}

interface Look {
  decorations: Set<string>;
  color?: string | undefined;
  background?: string | undefined;
  underline?: string | undefined;
}

const DECORATIONS = new Map([
  [1, 'bold'],
  [2, 'dim'],
  [3, 'italic'],
  [4, 'underline'],
  [7, 'reverse'],
  [9, 'strikethrough'],
]);
const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

function apply(state: Look, codes: readonly number[]): void {
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    const decoration = DECORATIONS.get(code);
    const place = PLACES.find(({ first }) => code >= first && code < first + 10)?.place;
    if (code === 0) Object.assign(state, { decorations: new Set(), color: undefined, background: undefined });
    else if (decoration) state.decorations.add(decoration);
    else if (code > 20 && code < 30) for (const ended of endedBy(code)) state.decorations.delete(ended);
    else if (place && code % 10 === 8) at += setColor(state, place, codes.slice(at + 1, at + 5));
    else if (place && code % 10 === 9) state[place] = undefined;
    else if (place) state[place] = NAMES[code % 10];
  }
}

type Place = 'color' | 'background' | 'underline';

/** Ranges of codes: eight named colours, a described colour, and the default. */
const PLACES: readonly { first: number; place: Place }[] = [
  { first: 30, place: 'color' },
  { first: 40, place: 'background' },
  { first: 50, place: 'underline' },
  { first: 90, place: 'color' },
  { first: 100, place: 'background' },
];

const endedBy = (code: number) => (code === 22 || code === 21 ? ['bold', 'dim'] : [DECORATIONS.get(code - 20) ?? '']);

/** `38:2::255:0:0` means the same as `38;2;255;0;0`. In other codes, the part after a colon is a detail. */
const codesOf = (text: string): number[] =>
  text
    .split(';')
    .flatMap((code) => (/^[345]8:/.test(code) ? code.replace('::', ':').split(':') : code.split(':', 1)))
    .map((code) => Number(code) || 0);

/** @returns the number of codes that describe the colour: `5;n` from the palette, or `2;r;g;b` */
function setColor(state: Look, place: Place, [kind, ...rest]: number[]): number {
  if (kind === 5) {
    state[place] = ofPalette(rest[0] ?? 0);
    return 2;
  }
  if (kind !== 2) return 1;
  state[place] = toRgb(rest.slice(0, 3));
  return 4;
}

const toRgb = (values: readonly number[]) => `rgb(${values.map((value) => Math.min(255, value)).join(' ')})`;

/** The palette of 256 colours: sixteen names, a cube with six shades for each component, and greys. */
function ofPalette(index: number): string | undefined {
  if (index < 16) return NAMES[index % 8];
  if (index > 231) return index < 256 ? toRgb([8, 8, 8].map((grey) => grey + (index - 232) * 10)) : undefined;
  const shade = (unit: number) => [0, 95, 135, 175, 215, 255][Math.floor((index - 16) / unit) % 6] ?? 0;
  return toRgb([shade(36), shade(6), shade(1)]);
}

function describe({ decorations, color, background }: Look): Omit<Span, 'text'> {
  const kept = [...decorations].filter((each) => each !== 'reverse');
  const [over, under] = decorations.has('reverse') ? [background, color ?? 'text'] : [color, background];
  const looks = [...kept, ...(over ? [NAMES.includes(over) ? over : 'color'] : []), ...(under ? ['on'] : [])];
  return {
    look: looks.map((each) => `ansi-${each}`).join(' '),
    ...(over && !NAMES.includes(over) && { color: over }),
    ...(under && { background: under.startsWith('rgb') ? under : `var(--ansi-${under})` }),
  };
}

/** A carriage return moves to the start of the line: progress bars use it. */
function overwrite(text: string): string {
  if (!text.includes('\r')) return text;
  return text
    .split('\n')
    .map((line) => line.split('\r').findLast((state) => state !== '') ?? '')
    .join('\n');
}
