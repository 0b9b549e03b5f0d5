import type { CommandShape, Values } from '../shape.ts';
import { pathKind, pathsOf, placesOf, quote, takesValue, wordsOf } from './places.ts';

/** For fish 3 and later. */
export function fishCompletion(program: CommandShape): string {
  const lines = placesOf(program).flatMap(({ path, shape, values }) => {
    const at = `complete -c capture -n ${quote(`__capture_at ${quote(path)}`)}`;
    return [
      ...shape.commands.map((inner) => `${at} -f -a ${quote(inner.path.at(-1) ?? '')} -d ${quote(inner.summary)}`),
      ...offer(at, shape.arguments),
      ...shape.options.map(
        (option) =>
          `${at}${option.names.map(flag).join('')}${takesValue(option) ? offerValue(option.value) : ''} -d ${quote(option.description)}`,
      ),
      ...(pathKind(values) === undefined ? [`${at} -f`] : []),
    ];
  });
  return `# Completion of capture for fish. Definitions follow the version, so let ~/.config/fish/config.fish ask for them:
#   capture completion fish | source
function __capture_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        switch "$path $word"
            case ${pathsOf(program).map(quote).join(' ')}
                set path "$path $word"
        end
    end
    test "$path" = "$argv[1]"
end
${lines.join('\n')}
`;
}

const flag = (name: string): string => (name.startsWith('--') ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`);

function offer(at: string, values: readonly Values[]): string[] {
  const words = wordsOf(values);
  return [
    ...(words.length > 0 ? [`${at} -f -a ${quote(words.join(' '))}`] : []),
    ...(pathKind(values) === 'folder' ? [`${at} -f -a '(__fish_complete_directories)'`] : []),
    ...(pathKind(values) === 'file' ? [`${at} -F`] : []),
  ];
}

function offerValue(value: Values): string {
  if (value.kind === 'file') return ' -r -F';
  if (value.kind === 'folder') return " -x -a '(__fish_complete_directories)'";
  return value.words.length > 0 ? ` -x -a ${quote(value.words.join(' '))}` : ' -x';
}
