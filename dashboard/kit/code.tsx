import { Fragment, memo, useCallback, useEffect, useState } from 'react';
import type { ThemedToken } from 'shiki/core';
import { highlight } from './highlight.ts';
import { languageOf } from './languages.ts';
import { showHidden } from './text/controls.ts';
import { Verbatim } from './verbatim.tsx';

const WAIT_MS = 120;

/** Code, coloured once the colours are computed. `language` is the word of a fence or the name of a file. */
export const Code = memo(function Code({ code, language }: { code: string; language: string }) {
  const draw = useCallback((piece: string) => <Coloured code={piece} language={language} />, [language]);
  return <Verbatim text={code} draw={draw} />;
});

function Coloured({ code, language }: { code: string; language: string }) {
  const lines = useTokens(code, language);
  if (!lines) return showHidden(code);
  return lines.map((tokens, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text never move
    <Fragment key={index}>
      <Tokens tokens={tokens} />
      {index < lines.length - 1 && '\n'}
    </Fragment>
  ));
}

function Tokens({ tokens }: { tokens: readonly ThemedToken[] }) {
  return tokens.map((token) => (
    <span key={token.offset} style={token.color === undefined ? undefined : { color: token.color }}>
      {showHidden(token.content)}
    </span>
  ));
}

export function useTokens(code: string, word: string): ThemedToken[][] | undefined {
  const [done, setDone] = useState<{ code: string; lines: ThemedToken[][] | undefined }>();
  useEffect(() => {
    let wanted = true;
    const language = languageOf(word);
    if (language === undefined) return;
    // Code that is scrolled past stays plain: colouring takes seconds of a processor that scrolling needs.
    const timer = setTimeout(
      () => void highlight(code, language).then((lines) => wanted && setDone({ code, lines })),
      WAIT_MS,
    );
    return () => {
      clearTimeout(timer);
      wanted = false;
    };
  }, [code, word]);
  return done?.code === code ? done.lines : undefined;
}
