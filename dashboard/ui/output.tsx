import { memo, useMemo, useState } from 'react';
import { readAnsi } from '../text/ansi.ts';
import { Button } from './button.tsx';
import { formatCount } from './format.ts';

/** Characters shown at first; more at a click. */
const FIRST = 20_000;

/** What a terminal would show, colours only. */
export const Output = memo(function Output({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  const shown = whole ? text : text.slice(0, FIRST);
  const spans = useMemo(() => readAnsi(shown), [shown]);
  return (
    <div className="min-w-0">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, also by keyboard */}
      <pre className="code-block" tabIndex={0}>
        {spans.map(({ text: words, look }, index) =>
          look === '' ? (
            words
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: the spans of a text never move
            <span key={index} className={look}>
              {words}
            </span>
          ),
        )}
      </pre>
      {shown.length < text.length && (
        <Button size="small" className="mt-2" onClick={() => setWhole(true)}>
          Show all {formatCount(text.length)} characters
        </Button>
      )}
    </div>
  );
});
