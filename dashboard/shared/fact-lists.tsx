import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { SessionFacts } from '../../contract/review.ts';
import { Lines } from '../kit/lines.tsx';
import { Pairs } from '../kit/pairs.tsx';
import { showHidden } from '../kit/text/controls.ts';

/** At most this many lines of each list are shown. */
export const FEW = 12;

/** The account, the changed files and the failed commands of a session. */
export function FactLists({ facts, sessionId }: { facts: SessionFacts; sessionId: string }) {
  const files = facts.files.toSorted((a, b) => b.added + b.removed - a.added - a.removed);
  const failing = facts.commands.filter(({ failed }) => failed > 0);
  const { account } = facts.summary;
  return (
    <>
      {account !== undefined && <Pairs pairs={[{ name: 'account on the machine', value: showHidden(account) }]} />}
      <Part title="Files changed" count={files.length}>
        {files.slice(0, FEW).map(({ path, added, removed, sequence }) => (
          <li key={path}>
            <Line sessionId={sessionId} sequence={sequence}>
              <span className="grow truncate text-left font-mono text-12" dir="rtl" title={showHidden(path)}>
                <bdi>{showHidden(path)}</bdi>
              </span>
              <Lines added={added} removed={removed} />
            </Line>
          </li>
        ))}
      </Part>
      <Part title="Failed commands" count={failing.length}>
        {failing.slice(0, FEW).map(({ command, failed, runs, sequence }) => (
          <li key={command}>
            <Line sessionId={sessionId} sequence={sequence}>
              <span className="grow truncate font-mono text-12">{showHidden(command)}</span>
              <span className="num flex-none text-bad">{`${failed} of ${runs}`}</span>
            </Line>
          </li>
        ))}
      </Part>
    </>
  );
}

interface PartProps {
  title: string;
  /** The number of all lines. Without any, the part is not shown. */
  count: number;
  /** The number of listed lines. */
  shown?: number;
  children: ReactNode;
}

/** A list of facts with its count. */
export function Part({ title, count, shown = Math.min(count, FEW), children }: PartProps) {
  if (count === 0) return undefined;
  return (
    <section>
      <h3 className="mb-1 text-12 text-muted">
        {title} {count}
      </h3>
      <ul>{children}</ul>
      {count > shown && shown > 0 && <p className="text-12 text-muted">and {count - shown} more</p>}
    </section>
  );
}

/** A line that leads to an event. */
export const Line = (props: { sessionId: string; sequence: number; children: ReactNode }) => (
  <Link
    to="/sessions/$sessionId"
    params={{ sessionId: props.sessionId }}
    search={{ e: props.sequence }}
    className="-mx-1 flex min-h-6 items-center gap-2 rounded-sm px-1 py-[3px] hover:bg-hover min-w-0 grow"
  >
    {props.children}
  </Link>
);
