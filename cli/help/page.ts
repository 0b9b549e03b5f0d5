/** A paragraph, a list of words with what they mean, or lines that stand as they are. */
export type Block = string | { terms: readonly Term[] } | { lines: readonly string[] };

export type Term = readonly [term: string, about: string];

const INDENT = 2;
/** Where a term is longer than this, what it means begins on the next line. */
const TERM_WIDTH = 26;

/** Blocks as lines for a terminal of that width. */
export function renderText(blocks: readonly Block[], width: number): string[] {
  const lines = blocks.flatMap((block) => ['', ...renderBlock(block, width)]);
  return lines.slice(1);
}

function renderBlock(block: Block, width: number): string[] {
  if (typeof block === 'string') return wrap(block, width);
  if ('lines' in block) return block.lines.map((line) => `${' '.repeat(INDENT + 2)}${line}`);
  const column = Math.min(TERM_WIDTH, Math.max(...block.terms.map(([term]) => term.length)) + 2);
  return block.terms.flatMap(([term, about]) => renderTerm(term, wrap(about, width - INDENT - column), column));
}

function renderTerm(term: string, about: readonly string[], column: number): string[] {
  const margin = ' '.repeat(INDENT);
  const under = about.map((line) => `${margin}${' '.repeat(column)}${line}`);
  if (term.length + 2 > column) return [margin + term, ...under];
  return [`${margin}${term.padEnd(column)}${about[0] ?? ''}`.trimEnd(), ...under.slice(1)];
}

/** Breaks at blanks; a word that is longer than the width stays whole. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
