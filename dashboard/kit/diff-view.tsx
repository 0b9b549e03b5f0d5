import { useMemo } from 'react';
import { useTokens } from './code.tsx';
import { More, useGrowing } from './more.tsx';
import { PathName } from './path-name.tsx';
import { showHidden } from './text/controls.ts';
import { markWords, type Range, splitAt } from './word-marks.ts';

export interface DiffHunk {
  oldStart?: number;
  newStart?: number;
  section?: string;
  /** Each line begins with `+`, `-` or a space. */
  lines: readonly string[];
}

/** Lines shown at first. Each click doubles them, up to `MAX_ADDED` more. */
const FIRST = 400;
const MAX_ADDED = 2_000;

/** A unified diff in the colours of the file's language, with line numbers if they are known. */
export function DiffView({ path, hunks }: { path: string; hunks: readonly DiffHunk[] }) {
  const { count, grow, isPending } = useGrowing(FIRST, MAX_ADDED);
  const lines = useMemo(() => number(hunks), [hunks]);
  const shown = useMemo(() => lines.slice(0, count), [lines, count]);
  const marks = useMemo(() => markWords(shown), [shown]);
  const tokens = useTokens(
    useMemo(() => shown.map(({ text }) => text).join('\n'), [shown]),
    path,
  );
  return (
    <figure className="diff" aria-label={`Changes of ${showHidden(path)}`}>
      <figcaption className="diff-title">
        <PathName path={path} />
      </figcaption>
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
                  <LineText
                    tokens={(line.sign !== '@' && tokens?.[index]) || [{ content: line.text, offset: 0 }]}
                    ranges={marks.get(index) ?? []}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < lines.length && (
        <More left={lines.length - shown.length} unit="lines" isPending={isPending} onMore={() => grow()} />
      )}
    </figure>
  );
}

/** A coloured line in which the changed words are marked. */
function LineText({ tokens, ranges }: { tokens: readonly Token[]; ranges: readonly Range[] }) {
  let at = 0;
  return tokens.map(({ content, offset, color }) => {
    const start = at;
    at += content.length;
    return (
      <span key={offset} style={color === undefined ? undefined : { color }}>
        {splitAt(content, start, ranges).map((part, index) => {
          if (part === '') return null;
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never move
          return index % 2 === 1 ? <mark key={index}>{showHidden(part)}</mark> : showHidden(part);
        })}
      </span>
    );
  });
}

interface Token {
  content: string;
  offset: number;
  color?: string;
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
