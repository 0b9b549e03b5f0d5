import { Link } from '@tanstack/react-router';
import type { Hit } from '../../../contract/review.ts';
import { cutMarks } from './marks.ts';

interface Props {
  sessionId: string;
  hits: readonly Hit[];
  words: string;
  isCurrent: boolean;
}

/** Where the words stand in a session: each line leads to its event. */
export function Hits({ sessionId, hits, words, isCurrent }: Props) {
  return (
    <div role="gridcell" className="session-hits">
      {hits.map(({ sequence, eventType, text, marks }) => (
        <Link
          key={sequence}
          to="/sessions/$sessionId"
          params={{ sessionId }}
          search={{ e: sequence, find: words }}
          tabIndex={isCurrent ? 0 : -1}
          className="session-hit"
        >
          <span className="session-hit-kind">{KINDS[eventType] ?? eventType}</span>
          <span className="truncate">
            {cutMarks(text, marks).map(({ start, piece, isMarked }) =>
              isMarked ? <mark key={start}>{piece}</mark> : <span key={start}>{piece}</span>,
            )}
          </span>
        </Link>
      ))}
    </div>
  );
}

/** The common types of events in words. */
const KINDS: Record<string, string> = {
  'user.message': 'prompt',
  'assistant.message': 'answer',
  'assistant.reasoning': 'reasoning',
  'tool.call': 'call',
  'tool.result': 'output',
};
