import { memo, type ReactNode, useMemo } from 'react';
import { pixels } from './pixels.ts';
import { showHidden } from './text/controls.ts';
import { cutText } from './text/pieces.ts';
import { useShown } from './use-shown.tsx';

/** The number of characters shown at first, and of each piece. */
const PIECE = 24_000;

interface Props {
  text: string;
  /** Draws a piece; `before` is the piece before it. It must be the same function each time, so that no piece is drawn twice. */
  draw: (piece: string, before: string) => ReactNode;
}

/** An unformatted text in a scrolling area: its beginning, and more of it or its end on request. */
export function Verbatim({ text, draw }: Props) {
  const { head, tail, more } = useShown(
    text,
    useMemo(() => firstOf(text), [text]),
  );
  const pieces = useMemo(() => cutText(head, PIECE), [head]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, also by keyboard
    <div className="code-block" tabIndex={0}>
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never move
        <Piece key={index} text={piece} before={pieces[index - 1]} draw={draw} />
      ))}
      {more}
      {tail !== undefined && <Piece text={tail} before="" draw={draw} />}
    </div>
  );
}

/** A hidden character is shown as eight others, two of them in another font. 24,000 of them take 0.7 s to lay out. */
function firstOf(text: string): number {
  // The escape of a colour is not shown.
  const looked = text.slice(0, MAX_LOOKED).replaceAll('\u001b', '');
  return showHidden(looked).length - looked.length > PIECE / 2 ? PIECE / 8 : PIECE;
}

const MAX_LOOKED = 500_000;

interface PieceProps extends Pick<Props, 'draw'> {
  text: string;
  before: string | undefined;
}

/** All pieces except the first are only laid out when they become visible. */
const Piece = memo(function Piece({ text, before, draw }: PieceProps) {
  // The last line ends with the element, so its line break is dropped.
  const shown = text.replace(/\n$/, '');
  if (before === undefined) return <pre>{draw(shown, '')}</pre>;
  const height = shown.split('\n').length * pixels('--line-code');
  return (
    <pre className="code-piece" style={{ containIntrinsicBlockSize: `auto ${height}px` }}>
      {draw(shown, before)}
    </pre>
  );
});
