import { type CSSProperties, memo } from 'react';
import { lookAfter, readAnsi } from './text/ansi.ts';
import { Verbatim } from './verbatim.tsx';

/** Terminal output with its colours. */
export const Output = memo(function Output({ text }: { text: string }) {
  return <Verbatim text={text} draw={drawSpans} />;
});

const drawSpans = (piece: string, before: string) =>
  readAnsi(lookAfter(before) + piece).map(({ text, look, color, background }, index) =>
    look === '' ? (
      text
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the spans of a text never move
      <span key={index} className={look} style={variables({ color, background })}>
        {text}
      </span>
    ),
  );

const variables = ({ color, background }: { color: string | undefined; background: string | undefined }) =>
  ({ '--ansi-color': color, '--ansi-background': background }) as CSSProperties;
