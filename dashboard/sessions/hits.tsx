import type { CapturedType } from '../../transcript/vocabulary.ts';
import type { SessionRow } from '../app/queries.ts';
import { beginNearMark, cutMarks } from './marks.ts';

interface Props {
  row: SessionRow;
  addressOf: (sessionId: string, sequence: number) => string;
  isCurrent: boolean;
  isNarrow: boolean;
}

/** The hits of a search in a session. Each line links to its event. */
export function Hits({ row: { session, hits }, addressOf, isCurrent, isNarrow }: Props) {
  return (
    <div role="gridcell" className="-mt-1 flex flex-col pr-2 pl-9">
      {hits.map(({ sequence, eventType, text, marks }) => {
        const from = isNarrow ? beginNearMark(text, marks) : 0;
        return (
          <a
            key={sequence}
            href={addressOf(session.sessionId, sequence)}
            tabIndex={isCurrent ? 0 : -1}
            className="-ml-1.5 flex h-(--list-hit) items-center gap-3 rounded-sm px-1.5 text-12/5 text-muted hover:bg-hover hover:text-text"
          >
            {/* On a narrow list, the words of the hit need the room. */}
            {!isNarrow && <span className="w-[68px] flex-none truncate">{kindOf(eventType)}</span>}
            <span className="truncate">
              {from > 0 && '… '}
              {cutMarks(text, marks, from).map(({ start, piece, isMarked }) =>
                isMarked ? <mark key={start}>{piece}</mark> : <span key={start}>{piece}</span>,
              )}
            </span>
          </a>
        );
      })}
    </div>
  );
}

const kindOf = (eventType: string) => (Object.hasOwn(KINDS, eventType) ? KINDS[eventType as CapturedType] : 'event');

/** The types of events in words. */
const KINDS: Record<CapturedType, string> = {
  'user.message': 'prompt',
  'assistant.message': 'answer',
  'assistant.reasoning': 'reasoning',
  'tool.call': 'call',
  'tool.result': 'output',
  'context.message': 'context',
  'session.meta': 'session',
  'subagent.started': 'sub-agent',
  'subagent.finished': 'sub-agent',
  'turn.finished': 'turn',
  compaction: 'compaction',
  notice: 'notice',
  error: 'error',
  record: 'record',
  unreadable: 'record',
  usage: 'usage',
};
