import { type CommandShape, flatten, type OptionShape, type Values } from '../shape.ts';

/** A point of the command line at which something can be completed, in the terms in which shells ask. */
export interface Place {
  /** The commands typed so far, each with a blank in front: ` spool list`, or nothing. */
  path: string;
  shape: CommandShape;
  /** Words and paths that may come next, other than options. */
  values: readonly Values[];
}

export function placesOf(program: CommandShape): Place[] {
  return flatten(program).map((shape) => ({
    path: shape.path.map((word) => ` ${word}`).join(''),
    shape,
    values: [...(shape.commands.length > 0 ? [commandsOf(shape)] : []), ...shape.arguments],
  }));
}

/** The paths at which a further word may be a command, each with that word. */
export const pathsOf = (program: CommandShape): string[] =>
  placesOf(program)
    .map(({ path }) => path)
    .filter((path) => path !== '');

export const wordsOf = (values: readonly Values[]): string[] => values.flatMap(({ words }) => words);

/** `file` where any path will do, `folder` where it must be one; undefined where no path is asked for. */
export function pathKind(values: readonly Values[]): 'file' | 'folder' | undefined {
  const kinds = values.map(({ kind }) => kind);
  return kinds.includes('file') ? 'file' : kinds.includes('folder') ? 'folder' : undefined;
}

export const takesValue = (option: OptionShape): option is OptionShape & { value: Values } =>
  option.value !== undefined;

const commandsOf = ({ commands }: CommandShape): Values => ({
  words: commands.map(({ path }) => path.at(-1) ?? ''),
  kind: 'words',
});

/** In single quotes, as all three shells and the scripts here have it; texts are ours and hold no line end. */
export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
