import type { SessionRow } from '../../queries.ts';
import { cutMarks } from './marks.ts';

interface Props {
  row: SessionRow;
  addressOf: (sessionId: string, sequence: number) => string;
  isCurrent: boolean;
}

/** Where the words stand in a session: each line leads to its event. */
export function Hits({ row: { session, hits }, addressOf, isCurrent }: Props) {
  return (
    <div role="gridcell" className="session-hits">
      {hits.map(({ sequence, eventType, text, marks }) => (
        <a
          key={sequence}
          href={addressOf(session.sessionId, sequence)}
          tabIndex={isCurrent ? 0 : -1}
          className="session-hit"
        >
          <span className="session-hit-kind">{KINDS[eventType] ?? eventType}</span>
          <span className="truncate">
            {cutMarks(text, marks).map(({ start, piece, isMarked }) =>
              isMarked ? <mark key={start}>{piece}</mark> : <span key={start}>{piece}</span>,
            )}
          </span>
        </a>
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
  'context.message': 'context',
  'session.meta': 'session',
};
