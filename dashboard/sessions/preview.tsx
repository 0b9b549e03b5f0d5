import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import type { Milestone, SessionFacts } from '../../contract/review.ts';
import { type SessionRow, useFacts } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { formatDuration } from '../kit/format.ts';
import { Waiting } from '../kit/notes.tsx';
import { Pairs } from '../kit/pairs.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { FactLists, FEW, Line, Part } from '../shared/fact-lists.tsx';
import { PullRequestLink } from '../shared/pull-request-link.tsx';
import { titleOf } from '../shared/session-title.ts';
import { ShapeStrip } from '../shared/shape-strip.tsx';
import { COLUMNS, FAILED, REDACTED } from './columns.tsx';

interface Props {
  row: SessionRow;
  onClose: () => void;
}

/** A preview of a session beside the list: figures, strip, prompts, milestones, files and failed commands. */
export function Preview({ row, onClose }: Props) {
  const { session, summary } = row;
  const { sessionId } = session;
  const facts = useFacts(sessionId, session.eventCount);
  const title = titleOf(session, summary);
  return (
    <aside
      className="sticky top-0 flex h-fit max-h-dvh flex-col gap-4 overflow-y-auto border-l border-line bg-surface pt-2 pb-6 pl-5 text-13 *:flex-none max-[1000px]:fixed max-[1000px]:inset-y-0 max-[1000px]:right-0 max-[1000px]:left-auto max-[1000px]:z-15 max-[1000px]:h-auto max-[1000px]:w-[min(420px,100vw)] max-[1000px]:bg-raised max-[1000px]:p-4 max-[1000px]:shadow-float [&_.shape-strip]:h-8 [&_.shape-strip]:w-full"
      aria-label="Preview"
    >
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
      {facts.isPending && <Waiting label="Loading the preview" rows={6} />}
      {facts.isError && <ErrorNote error={facts.error} onRetry={() => void facts.refetch()} />}
      {facts.data && <Prompts turns={facts.data.turns} count={summary.prompts} sessionId={sessionId} />}
      {facts.data && <Milestones milestones={facts.data.milestones} sessionId={sessionId} />}
      {facts.data && <FactLists facts={facts.data} sessionId={sessionId} />}
    </aside>
  );
}

function Prompts({ turns, count, sessionId }: Pick<SessionFacts, 'turns'> & { count: number; sessionId: string }) {
  const first = turns.slice(0, FEW);
  return (
    <Part title="Prompts" count={count} shown={first.length}>
      {first.map(({ sequence, prompt }) => (
        <li key={sequence}>
          <Line sessionId={sessionId} sequence={sequence}>
            <span className="line-clamp-3">{showHidden(prompt) || 'Image'}</span>
          </Line>
        </li>
      ))}
    </Part>
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

const WORDS: Record<Milestone['kind'], (milestone: Milestone) => string> = {
  commit: ({ hash }) => hash?.slice(0, 7) ?? 'commit',
  pull_request: () => 'pull request',
  tests: ({ passed }) => (passed ? 'tests green' : 'tests red'),
  compaction: () => 'compaction',
  wait: ({ durationMs }) => `waited ${formatDuration(durationMs ?? 0)}`,
};

const wordOf = (milestone: Milestone): string => WORDS[milestone.kind](milestone);
