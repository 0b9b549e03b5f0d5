import { memo, useDeferredValue, useMemo } from 'react';
import { Boundary } from './boundary.tsx';
import { Code } from './code.tsx';
import { drawMarkdown } from './markdown-draw.tsx';
import { showHidden } from './text/controls.ts';
import { cutMarkdown, type MarkdownPiece } from './text/markdown-pieces.ts';
import { useShown } from './use-shown.tsx';

/** Characters shown at first. */
const FIRST = 24_000;
/** Characters of a piece, which is parsed in one go. The worst piece of this size takes a tenth of a second. */
const PIECE = 4_000;

/** Untrusted Markdown: no HTML, no images from elsewhere, and links that name their host. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const { head, tail, more } = useShown(text, FIRST);
  return (
    <div className="prose">
      <Pieces text={head} />
      {more}
      {tail !== undefined && <Pieces text={tail} />}
    </div>
  );
});

/** Draws the first pieces at once, and the others when the page has time. */
function Pieces({ text }: { text: string }) {
  const pieces = useMemo(() => cutMarkdown(text, PIECE), [text]);
  const count = useDeferredValue(pieces.length, countAtOnce(pieces));
  return pieces.slice(0, count).map((piece, index) =>
    'code' in piece ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never move
      <Code key={index} code={piece.code} language={piece.language} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above
      <Piece key={index} text={piece.markdown} />
    ),
  );
}

function countAtOnce(pieces: readonly MarkdownPiece[]): number {
  let length = 0;
  const beyond = pieces.findIndex((piece) => {
    length += 'code' in piece ? piece.code.length : piece.markdown.length;
    return length > PIECE;
  });
  return beyond === -1 ? pieces.length : Math.max(1, beyond);
}

const Piece = memo(function Piece({ text }: { text: string }) {
  return (
    <Boundary of="This text" fallback={<p className="whitespace-pre-wrap">{showHidden(text)}</p>}>
      <Parsed text={text} />
    </Boundary>
  );
});

const Parsed = ({ text }: { text: string }) => drawMarkdown(text);
