import { memo, type ReactNode, useMemo } from 'react';
import { pixels } from './pixels.ts';
import { showHidden } from './text/controls.ts';
import { cutText } from './text/pieces.ts';
import { useShown } from './use-shown.tsx';

/** Characters shown at first, and of a piece. */
const PIECE = 24_000;

interface Props {
  text: string;
  /** Draws a piece; `before` is the one before it. The same function each time, so that no piece is drawn twice. */
  draw: (piece: string, before: string) => ReactNode;
}

/** A text as it is, in an area that scrolls: its beginning, more of it on request, and its end. */
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

/** Characters that hide are written out as eight, two of them of another font: 24,000 of those take 0.7 s to lay out. */
function firstOf(text: string): number {
  // The escape that begins a colour is not written out.
  const looked = text.slice(0, MOST_LOOKED).replaceAll('\u001b', '');
  return showHidden(looked).length - looked.length > PIECE / 2 ? PIECE / 8 : PIECE;
}

const MOST_LOOKED = 500_000;

interface PieceProps extends Pick<Props, 'draw'> {
  text: string;
  before: string | undefined;
}

/** All but the first are laid out only when they come into sight. */
const Piece = memo(function Piece({ text, before, draw }: PieceProps) {
  // The end of its last line is the end of the element.
  const shown = text.replace(/\n$/, '');
  if (before === undefined) return <pre>{draw(shown, '')}</pre>;
  const height = shown.split('\n').length * pixels('--line-code');
  return (
    <pre className="code-piece" style={{ containIntrinsicBlockSize: `auto ${height}px` }}>
      {draw(shown, before)}
    </pre>
  );
});
