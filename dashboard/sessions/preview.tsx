import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Milestone, SessionFacts } from '../../contract/review.ts';
import { type SessionRow, useFacts, usePrompts } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { formatDuration } from '../kit/format.ts';
import { Lines } from '../kit/lines.tsx';
import { Waiting } from '../kit/notes.tsx';
import { Pairs } from '../kit/pairs.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { PullRequestLink } from '../shared/pull-request-link.tsx';
import { titleOf } from '../shared/session-title.ts';
import { ShapeStrip } from '../shared/shape-strip.tsx';
import { COLUMNS, FAILED, REDACTED } from './columns.tsx';

interface Props {
  row: SessionRow;
  onClose: () => void;
}

const FEW = 12;

/** A preview of a session beside the list: figures, strip, prompts, milestones, files and failed commands. */
export function Preview({ row, onClose }: Props) {
  const { session, summary } = row;
  const { sessionId } = session;
  const facts = useFacts(sessionId, session.eventCount);
  const prompts = usePrompts(sessionId);
  const title = titleOf(session, summary);
  return (
    <aside className="preview" aria-label="Preview">
      <header className="flex items-start gap-2">
        <h2 className="min-w-0 grow text-14">
          <Link to="/sessions/$sessionId" params={{ sessionId }} className="line-clamp-2">
            {title}
          </Link>
        </h2>
        <Button tone="quiet" size="small" icon aria-label="Close the preview" onClick={onClose}>
          <X size={16} />
        </Button>
      </header>
      <ShapeStrip shape={summary.shape} />
      <Pairs
        look="figures"
        pairs={[
          ...COLUMNS.slice(1),
          ...(summary.failures > 0 ? [FAILED] : []),
          ...(summary.redactions > 0 ? [REDACTED] : []),
        ].map(({ label, Cell, explain }) => ({
          name: label,
          value: <Cell {...row} />,
          title: explain?.(row),
        }))}
      />
      <Part title="Prompts" count={summary.prompts} shown={prompts.data?.length ?? 0}>
        {prompts.data?.map(({ sequence, text }) => (
          <li key={sequence}>
            <Line sessionId={sessionId} sequence={sequence}>
              <span className="line-clamp-3">{showHidden(text)}</span>
            </Line>
          </li>
        ))}
      </Part>
      {facts.isPending && <Waiting label="Loading the preview" rows={6} />}
      {facts.isError && <ErrorNote error={facts.error} onRetry={() => void facts.refetch()} />}
      {facts.data && <Milestones milestones={facts.data.milestones} sessionId={sessionId} />}
      {facts.data && <FactLists facts={facts.data} sessionId={sessionId} />}
    </aside>
  );
}

function Milestones({ milestones, sessionId }: Pick<SessionFacts, 'milestones'> & { sessionId: string }) {
  return (
    <Part title="Milestones" count={milestones.length}>
      {milestones.slice(0, FEW).map((milestone) => (
        <li key={`${milestone.sequence} ${milestone.kind} ${milestone.hash ?? milestone.text}`} className="flex">
          <Line sessionId={sessionId} sequence={milestone.sequence}>
            <span className="flex-none text-muted">{wordOf(milestone)}</span>
            <span className="truncate">{showHidden(milestone.text)}</span>
          </Line>
          <PullRequestLink milestone={milestone} />
        </li>
      ))}
    </Part>
  );
}

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

function Part({ title, count, shown = Math.min(count, FEW), children }: PartProps) {
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

const Line = (props: { sessionId: string; sequence: number; children: ReactNode }) => (
  <Link
    to="/sessions/$sessionId"
    params={{ sessionId: props.sessionId }}
    search={{ e: props.sequence }}
    className="preview-line min-w-0 grow"
  >
    {props.children}
  </Link>
);

const WORDS: Record<Milestone['kind'], (milestone: Milestone) => string> = {
  commit: ({ hash }) => hash?.slice(0, 7) ?? 'commit',
  pull_request: () => 'pull request',
  tests: ({ passed }) => (passed ? 'tests green' : 'tests red'),
  compaction: () => 'compaction',
  wait: ({ durationMs }) => `waited ${formatDuration(durationMs ?? 0)}`,
};

const wordOf = (milestone: Milestone): string => WORDS[milestone.kind](milestone);
