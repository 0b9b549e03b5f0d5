import type { CommandShape, Values } from '../shape.ts';
import { pathKind, pathsOf, placesOf, quote, takesValue, wordsOf } from './places.ts';

/** For bash 3.2, which macOS has, and later. */
export function bashCompletion(program: CommandShape): string {
  const places = placesOf(program);
  const optionCases = places.flatMap(({ path, shape }) =>
    shape.options
      .filter(takesValue)
      .map(
        ({ names, value }) => `    ${names.map((name) => quote(`${path} ${name}`)).join('|')}) ${offer([value])} ;;`,
      ),
  );
  const placeCases = places.map(
    ({ path, shape, values }) =>
      `    ${quote(path)}) options=${quote(shape.options.flatMap(({ names }) => names).join(' '))}; ${offer(values)} ;;`,
  );
  return `# Completion of capture for bash. Definitions follow the version, so let ~/.bashrc ask for them:
#   source <(capture completion bash)
_capture() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous= path= words= options= paths= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
      ${pathsOf(program).map(quote).join('|')}) path="$path \${COMP_WORDS[i]}" ;;
    esac
  done
  # A word is cut at "=": --agent=codex are three.
  previous=\${COMP_WORDS[COMP_CWORD-1]}
  if [[ $current == = ]]; then current=; elif [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
  case "$path $previous" in
${optionCases.join('\n')}
    *) case "$path" in
${placeCases.join('\n')}
    esac ;;
  esac
  if [[ $current == -* ]]; then words=$options paths=; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  # One path a line, and only there: the words above are separated by blanks.
  local IFS=$'\\n'
  case $paths in
    file) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$current")) ;;
    folder) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$current")) ;;
  esac
}
complete -F _capture capture
`;
}

const offer = (values: readonly Values[]): string =>
  `words=${quote(wordsOf(values).join(' '))} paths=${pathKind(values) ?? ''}`;
