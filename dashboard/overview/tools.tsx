import { useState } from 'react';
import type { FrameSearch } from '../../contract/pages.ts';
import type { Usage } from '../../contract/review.ts';
import { hrefOf } from '../kit/base-path.ts';
import { formatCount, formatPart, plural } from '../kit/format.ts';
import { ShowAll } from '../kit/more.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { sessionsOf } from './series.ts';

const FEW = 12;
/** The service returns at most this many. */
const MOST = 50;

/** Tools by their calls and failures: a bar from zero for each, with its figures beside it. */
export function Tools({ usage, plane }: { usage: Usage; plane: FrameSearch['plane'] }) {
  const [isWhole, setIsWhole] = useState(false);
  const tools = usage.tools.toSorted((a, b) => b.calls - a.calls);
  const most = Math.max(1, ...tools.map(({ calls }) => calls));
  const shown = isWhole ? tools : tools.slice(0, FEW);
  return (
    <section aria-labelledby="tools" className="min-w-0">
      <h2 id="tools" className="mb-3 text-14">
        Tools <span className="font-normal text-muted">· calls and failures</span>
      </h2>
      {tools.length === 0 && <p className="text-13 text-muted">No calls in this period.</p>}
      <table className="tools">
        <thead className="sr-only">
          <tr>
            <th>Tool</th>
            <th>Share</th>
            <th>Calls</th>
            <th>Failed</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ name, calls, failed }) => (
            <tr key={name}>
              <th scope="row">
                {name === '' ? (
                  'others'
                ) : (
                  <a href={hrefOf(sessionsOf(plane, usage, { field: 'tool', value: name }))}>{showHidden(name)}</a>
                )}
              </th>
              <td aria-hidden>
                <span className="tool-bar" style={{ width: `${(calls / most) * 100}%` }}>
                  <i style={{ width: `${(Math.min(failed, calls) / Math.max(1, calls)) * 100}%` }} />
                </span>
              </td>
              <td className="num">{formatCount(calls)}</td>
              <td className={`num ${failed > 0 ? 'text-bad' : 'text-muted'}`}>
                {failed > 0 ? `${formatCount(failed)} failed · ${formatPart(failed / Math.max(1, calls))}` : ''}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {isWhole && tools.length >= MOST && (
        <p className="mt-2 text-12 text-muted">Only the {MOST} tools with the most calls are listed.</p>
      )}
      {tools.length > FEW && (
        <ShowAll isWhole={isWhole} onToggle={() => setIsWhole(!isWhole)}>
          {plural(tools.length - FEW, 'more tool')}
        </ShowAll>
      )}
    </section>
  );
}
