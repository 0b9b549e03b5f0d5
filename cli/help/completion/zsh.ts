import type { CommandShape, OptionShape, Values } from '../shape.ts';
import { placesOf, quote } from './places.ts';

/** For zsh 5 and later. */
export function zshCompletion(program: CommandShape): string {
  return `#compdef capture
# Completion of capture for zsh. Definitions follow the version, so let ~/.zshrc ask for them, after compinit:
#   source <(capture completion zsh)
${placesOf(program)
  .map(({ path, shape }) => defineFunction(nameOf(path), shape))
  .join('\n')}
# Read from a folder of fpath it completes at once, sourced it registers itself.
if [[ $funcstack[1] == _capture ]]; then _capture "$@"; else compdef _capture capture; fi
`;
}

const nameOf = (path: string): string => `_capture${path.replaceAll(' ', '_')}`;

function defineFunction(name: string, shape: CommandShape): string {
  const specs = [...shape.options.flatMap(optionSpecs), ...shape.arguments.map(argumentSpec)];
  if (shape.commands.length === 0) return `${name}() { _arguments ${specs.join(' ')} }`;
  const entries = shape.commands.map(({ path, summary }) => quote(`${quoteColons(path.at(-1) ?? '')}:${summary}`));
  return `${name}() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C ${specs.join(' ')} '1: :->command' '*:: :->rest'
  case $state in
    command) local -a entries=(${entries.join(' ')}); _describe command entries ;;
    rest) (( $+functions[${name}_\${words[1]}] )) && ${name}_\${words[1]} ;;
  esac
}`;
}

/** A switch may be given once, by any of its names; what takes a value perhaps again. */
function optionSpecs({ names, description, value }: OptionShape): string[] {
  return names.map((name) => {
    const about = `[${quoteColons(description)}]`;
    if (value === undefined) return quote(`(${names.join(' ')})${name}${about}`);
    return quote(`*${name}${name.startsWith('--') ? '=' : '+'}${about}:value:${action(value)}`);
  });
}

const argumentSpec = ({ name, isVariadic, ...values }: Values & { name: string; isVariadic: boolean }): string =>
  quote(`${isVariadic ? '*' : ''}:${quoteColons(name)}:${action(values)}`);

function action({ words, kind }: Values): string {
  if (kind === 'file') return '_files';
  if (kind === 'folder') return '_files -/';
  return words.length > 0 ? `(${words.join(' ')})` : ' ';
}

const quoteColons = (text: string): string => text.replace(/[[\]:\\]/g, '\\$&');
