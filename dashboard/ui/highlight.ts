import type { HighlighterCore, ThemedToken } from 'shiki/core';

/** Languages whose grammars are fetched when they are first needed. */
const GRAMMARS = {
  bash: () => import('shiki/langs/bash.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
};

type Language = keyof typeof GRAMMARS;

const ALIASES: Record<string, Language> = {
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

/** The language of a fence's word or of a file's ending. */
export function languageOf(word: string): Language | undefined {
  const name = word.toLowerCase().split('.').at(-1) ?? '';
  if (Object.hasOwn(GRAMMARS, name)) return name as Language;
  return Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;
}

/** More than this is shown in one colour: highlighting would hold up the page. */
const MOST = 60_000;
const LONGEST_LINE = 2_000;

let making: Promise<HighlighterCore> | undefined;

/** The lines of tokens, or nothing where the code is too much. Colours are CSS variables of the theme. */
export async function highlight(code: string, language: Language): Promise<ThemedToken[][] | undefined> {
  if (code.length > MOST || code.split('\n').some((line) => line.length > LONGEST_LINE)) return undefined;
  making ??= makeHighlighter();
  const highlighter = await making;
  if (!highlighter.getLoadedLanguages().includes(language)) {
    await highlighter.loadLanguage((await GRAMMARS[language]()).default);
  }
  return highlighter.codeToTokensBase(code, { lang: language, theme: 'css-variables', tokenizeTimeLimit: 200 });
}

/** The JavaScript engine needs no WebAssembly, which the page's policy forbids. */
async function makeHighlighter(): Promise<HighlighterCore> {
  const [{ createHighlighterCore, createCssVariablesTheme }, { createJavaScriptRegexEngine }] = await Promise.all([
    import('shiki/core'),
    import('shiki/engine/javascript'),
  ]);
  return createHighlighterCore({
    engine: createJavaScriptRegexEngine({ forgiving: true }),
    themes: [createCssVariablesTheme({ name: 'css-variables', variablePrefix: '--code-', fontStyle: false })],
  });
}
