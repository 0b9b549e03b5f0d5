import { memo, type ReactNode } from 'react';
import type { SessionRow } from '../app/queries.ts';
import { formatShort } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { agentColor, agentName } from '../shared/agent-name.tsx';
import { useRepositoryName } from '../shared/repository-name.tsx';
import { SessionCost } from '../shared/session-cost.tsx';
import { titleOf } from '../shared/session-title.ts';
import { StatusMark } from '../shared/status-mark.tsx';
import { VisibilityMark } from '../shared/visibility-mark.tsx';
import { Changes, type Column, FAILED, FIGURE, LINE, MAIN, TITLE, WHERE } from './columns.tsx';
import { Hits } from './hits.tsx';

interface Props {
  row: SessionRow;
  machine: string;
  /** To whom the session belongs. */
  owner: string;
  columns: readonly Column[];
  isNarrow: boolean;
  /** The list shows the day above the session. */
  isBelowDay: boolean;
  /** The row has the focus, or would get it. */
  isCurrent: boolean;
  isPreviewed: boolean;
  addressOf: (sessionId: string, sequence?: number) => string;
  index: number;
  /** The position of the row in the list, in pixels. */
  top: number;
  height: number;
  menu: (row: SessionRow, isCurrent: boolean) => ReactNode;
}

/** A session in the list. The row as a whole takes the focus. Only in the current row, Tab also reaches its contents. */
export const SessionLine = memo(function SessionLine(props: Props) {
  const { row, machine, owner, columns, isNarrow, isBelowDay, isCurrent, isPreviewed } = props;
  const { addressOf, index, top, height, menu } = props;
  const { session, summary, hits } = row;
  const { sessionId } = session;
  const title = titleOf(session, summary);
  return (
    <div
      role="row"
      className="group/row absolute inset-x-0 top-0 cursor-pointer border-line border-b text-13 [contain:layout_style] hover:bg-hover focus-visible:z-1 focus-visible:rounded-sm focus-visible:-outline-offset-2 aria-selected:bg-selected"
      data-session={sessionId}
      data-narrow={isNarrow || undefined}
      aria-rowindex={index + 2}
      aria-selected={isPreviewed}
      tabIndex={isCurrent ? 0 : -1}
      style={{ height, transform: `translateY(${top}px)` }}
    >
      <div
        className={`${LINE} ${isNarrow ? 'h-[calc(var(--list-row-narrow)-1px)] items-start pt-2' : 'h-[calc(var(--list-row)-1px)] items-center'}`}
      >
        <span role="gridcell" className="flex-none">
          <StatusMark session={session} summary={summary} />
        </span>
        <span role="presentation" className={isNarrow ? 'flex min-w-0 flex-1 flex-col' : MAIN}>
          <span
            role="gridcell"
            className={`${isNarrow ? 'flex min-w-0' : TITLE} items-baseline gap-2`}
            data-label="Session"
          >
            <a
              href={addressOf(sessionId)}
              tabIndex={-1}
              className={`truncate ${summary.title || session.title || summary.firstPrompt ? 'font-medium' : 'text-muted'}`}
              title={title}
            >
              {title}
            </a>
            <VisibilityMark session={session} />
            {!isNarrow && (
              <span
                className="num ml-auto flex-none text-12/5 empty:hidden"
                data-label={FAILED.label}
                title={FAILED.explain?.(row)}
              >
                <FAILED.Cell {...row} />
              </span>
            )}
          </span>
          <Where row={row} machine={machine} owner={owner} isNarrow={isNarrow} />
          {isNarrow && <Figures row={row} isBelowDay={isBelowDay} isCurrent={isCurrent} />}
        </span>
        {columns.map(({ label, width, begins, Cell, explain }) => (
          <span
            key={label}
            role="gridcell"
            className={`${FIGURE} num`}
            data-begins={begins}
            style={{ width }}
            title={explain?.(row)}
            data-label={label}
          >
            <Cell {...row} isBelowDay={isBelowDay} isCurrent={isCurrent} />
          </span>
        ))}
        <span role="gridcell" className="flex-none">
          {menu(row, isCurrent)}
        </span>
      </div>
      {hits.length > 0 && <Hits {...{ row, addressOf, isCurrent, isNarrow }} />}
    </div>
  );
});

/** What is said second: muted, in one line. */
const SECOND = 'truncate text-12/[18px] text-muted';

/** Agent · person · repository · branch · machine. */
function Where({
  row: { session, summary },
  machine,
  owner,
  isNarrow,
}: Pick<Props, 'row' | 'machine' | 'owner' | 'isNarrow'>) {
  const { repository, gitBranch } = summary;
  const nameOfRepository = useRepositoryName();
  const parts = Object.entries({
    agent: agentName(session.agentId),
    person: owner,
    repository: repository && nameOfRepository(repository),
    branch: gitBranch && showHidden(gitBranch),
    machine,
  }).filter(([, text]) => text);
  return (
    <span
      className={`${SECOND} ${isNarrow ? '' : WHERE}`}
      title={parts.map(([name, text]) => `${name} ${text}`).join('\n')}
      data-label="Where"
    >
      {session.secretEnvironment === 'test' && (
        <span className="tag mr-2 h-4 align-top text-test leading-[14px]">test</span>
      )}
      <span
        className="mr-2 inline-block size-1.5 rounded-[50%] align-[2px]"
        style={{ background: agentColor(session.agentId) }}
      />
      {parts.map(([, text]) => text).join(' · ')}
    </span>
  );
}

function Figures({
  row: { session, summary },
  isBelowDay,
  isCurrent,
}: Pick<Props, 'row' | 'isBelowDay' | 'isCurrent'>) {
  return (
    <span
      className={`${SECOND} num [&>*+*]:before:mx-1.5 [&>*+*]:before:text-line-strong [&>*+*]:before:content-['·']`}
    >
      <Ago time={session.startedAt} isBelowDay={isBelowDay} />
      {summary.failures > 0 && <span className="text-bad">{formatShort(summary.failures)} failed</span>}
      {summary.filesChanged > 0 && (
        <span>
          <Changes {...summary} />
        </span>
      )}
      {summary.cost !== undefined && (
        <span>
          <SessionCost summary={summary} tabIndex={isCurrent ? 0 : -1} />
        </span>
      )}
    </span>
  );
}
