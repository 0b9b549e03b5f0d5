import { memo, useEffect, useState } from 'react';
import type { ThemedToken } from 'shiki/core';
import { showHidden } from '../text/controls.ts';
import { Button } from './button.tsx';
import { formatCount } from './format.ts';
import { highlight, languageOf } from './highlight.ts';

/** Characters shown at first; more at a click. */
const FIRST = 40_000;

/** Code in its colours, once they are there. `language` is a fence's word or a file's name. */
export const Code = memo(function Code({ code, language }: { code: string; language: string }) {
  const [whole, setWhole] = useState(false);
  const shown = whole ? code : code.slice(0, FIRST);
  const lines = useTokens(shown, language);
  return (
    <div className="min-w-0">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, also by keyboard */}
      <pre className="code-block" tabIndex={0}>
        {lines
          ? lines.map((tokens, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text never move
              <span key={index}>
                <Tokens tokens={tokens} />
                {'\n'}
              </span>
            ))
          : showHidden(shown)}
      </pre>
      {shown.length < code.length && (
        <Button size="small" className="mt-2" onClick={() => setWhole(true)}>
          Show all {formatCount(code.length)} characters
        </Button>
      )}
    </div>
  );
});

export function Tokens({ tokens }: { tokens: readonly ThemedToken[] }) {
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
    highlight(code, language).then(
      (lines) => wanted && setDone({ code, lines }),
      // Without its colours the code is there all the same.
      () => {},
    );
    return () => {
      wanted = false;
    };
  }, [code, word]);
  return done?.code === code ? done.lines : undefined;
}
