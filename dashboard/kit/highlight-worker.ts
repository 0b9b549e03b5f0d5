import { createCssVariablesTheme, createHighlighterCore } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import type { HighlightRequest } from './highlight.ts';
import type { Language } from './languages.ts';

/** Colours code in a worker, so that a slow grammar does not block the page. */

/** Grammars are loaded when they are first needed. */
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
} satisfies Record<Language, unknown>;

/** The JavaScript engine needs no WebAssembly, which the page's content security policy forbids. */
const making = createHighlighterCore({
  engine: createJavaScriptRegexEngine({ forgiving: true }),
  themes: [createCssVariablesTheme({ name: 'css-variables', variablePrefix: '--code-', fontStyle: false })],
});

self.onmessage = async ({ data: { id, code, language } }: MessageEvent<HighlightRequest>) => {
  const lines = await tokensOf(code, language).catch(() => undefined);
  self.postMessage({ id, lines });
};

async function tokensOf(code: string, language: Language) {
  const highlighter = await making;
  if (!highlighter.getLoadedLanguages().includes(language)) {
    await highlighter.loadLanguage((await GRAMMARS[language]()).default);
  }
  return highlighter.codeToTokensBase(code, { lang: language, theme: 'css-variables', tokenizeTimeLimit: 200 });
}
