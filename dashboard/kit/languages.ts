/** The languages with a grammar. */
const NAMES = [
  'bash',
  'css',
  'diff',
  'go',
  'html',
  'java',
  'json',
  'markdown',
  'python',
  'rust',
  'sql',
  'toml',
  'tsx',
  'yaml',
] as const;

export type Language = (typeof NAMES)[number];

const ALIASES: Record<string, Language> = {
  ...Object.fromEntries(NAMES.map((name) => [name, name])),
  cjs: 'tsx',
  htm: 'html',
  javascript: 'tsx',
  js: 'tsx',
  jsonc: 'json',
  jsonl: 'json',
  jsx: 'tsx',
  md: 'markdown',
  mjs: 'tsx',
  py: 'python',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  svg: 'html',
  ts: 'tsx',
  typescript: 'tsx',
  xml: 'html',
  yml: 'yaml',
  zsh: 'bash',
};

/** The language of a fence's word or of a file's extension. */
export function languageOf(word: string): Language | undefined {
  const name = word.toLowerCase().split('.').at(-1) ?? '';
  return Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;
}
