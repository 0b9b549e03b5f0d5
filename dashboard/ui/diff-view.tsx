import { useMemo, useState } from 'react';
import { showHidden } from '../text/controls.ts';
import { Button } from './button.tsx';
import { Tokens, useTokens } from './code.tsx';
import { formatCount } from './format.ts';

export interface DiffHunk {
  oldStart?: number;
  newStart?: number;
  section?: string;
  /** Each with its `+`, `-` or space in front. */
  lines: readonly string[];
}

/** Lines shown at first. */
const FIRST = 400;

/** A unified diff with line numbers where they are known, in the colours of the file's language. */
export function DiffView({ path, hunks }: { path: string; hunks: readonly DiffHunk[] }) {
  const [whole, setWhole] = useState(false);
  const lines = useMemo(() => number(hunks), [hunks]);
  const shown = whole ? lines : lines.slice(0, FIRST);
  const tokens = useTokens(
    useMemo(() => shown.map(({ text }) => text).join('\n'), [shown]),
    path,
  );
  return (
    <figure className="diff" aria-label={`Changes of ${path}`}>
      <figcaption className="diff-title">{showHidden(path)}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, also by keyboard */}
      <div className="overflow-x-auto" tabIndex={0}>
        <table className="diff-table">
          <tbody>
            {shown.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a diff never move
              <tr key={index} data-sign={line.sign}>
                <td className="diff-number">{line.before}</td>
                <td className="diff-number">{line.after}</td>
                <td className="diff-text">
                  <span className="diff-sign">{line.sign === '@' ? '' : line.sign}</span>
                  {tokens?.[index] && line.sign !== '@' ? <Tokens tokens={tokens[index]} /> : showHidden(line.text)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < lines.length && (
        <Button size="small" tone="quiet" className="m-1" onClick={() => setWhole(true)}>
          Show all {formatCount(lines.length)} lines
        </Button>
      )}
    </figure>
  );
}

interface Line {
  sign: '+' | '-' | ' ' | '@';
  text: string;
  before?: number;
  after?: number;
}

function number(hunks: readonly DiffHunk[]): Line[] {
  return hunks.flatMap((hunk, index) => {
    let before = hunk.oldStart;
    let after = hunk.newStart;
    const lines = hunk.lines.map((line): Line => {
      const sign = line[0] as '+' | '-' | ' ';
      const numbered: Line = { sign, text: line.slice(1) };
      if (before !== undefined && sign !== '+') numbered.before = before++;
      if (after !== undefined && sign !== '-') numbered.after = after++;
      return numbered;
    });
    const separated = index > 0 || hunk.section !== undefined;
    return separated ? [{ sign: '@' as const, text: hunk.section ?? '⋯' }, ...lines] : lines;
  });
}
