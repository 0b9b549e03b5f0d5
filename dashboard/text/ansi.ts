import Anser from 'anser';
import { showHidden } from './controls.ts';

/** A stretch of terminal output in one look. `look` are class names. */
export interface Span {
  text: string;
  look: string;
}

const SEQUENCES = new RegExp(
  [
    // Strings for the terminal: titles, links, the clipboard. Unended ones hide the rest of their line only.
    '(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)?',
    // Control sequences other than SGR, with the strange ones.
    '(?:\\u001b\\[|\\u009b)[0-9:;<=>?]*[ -/]*[@-ln-~]',
    '(?:\\u001b\\[|\\u009b)[<=>?][0-9:;]*m',
    // What is left of escapes.
    '\\u001b(?!\\[[0-9:;]*m)[ -/]*[0-~]?',
  ].join('|'),
  'g',
);

/** Terminal output with its colours; every other control is taken out, and overwritten lines show their last state. */
export function readAnsi(output: string): Span[] {
  const text = overwrite(output.replace(SEQUENCES, ''));
  if (!text.includes('\u001b')) return text === '' ? [] : [{ text: showHidden(text), look: '' }];
  const chunks = Anser.ansiToJson(text, { json: true, use_classes: true, remove_empty: true });
  return chunks.map(({ content, fg, decorations }) => ({ text: showHidden(content), look: lookOf(fg, decorations) }));
}

/** Without any control at all, for a line of preview. */
export const stripAnsi = (output: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what is looked for
  showHidden(output.replace(SEQUENCES, '').replace(/\u001b\[[0-9:;]*m/g, ''));

const NAMED = /^ansi-(?:bright-)?(black|red|green|yellow|blue|magenta|cyan|white)$/;

function lookOf(color: string | null, decorations: readonly string[]): string {
  const name = NAMED.exec(color ?? '')?.[1];
  const kept = decorations.filter((each) => each !== 'blink' && each !== 'hidden' && each !== 'reverse');
  return [...(name ? [`ansi-${name}`] : []), ...kept.map((each) => `ansi-${each}`)].join(' ');
}

/** A carriage return goes back to the start of the line, as progress bars do. */
function overwrite(text: string): string {
  if (!text.includes('\r')) return text;
  return text
    .replace(/\r\n/g, '\n')
    .split('\n')
    .map((line) => line.slice(line.replace(/\r+$/, '').lastIndexOf('\r') + 1).replace(/\r+$/, ''))
    .join('\n');
}
