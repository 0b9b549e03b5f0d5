import { CircleAlert } from 'lucide-react';
import { createContext, useContext, useState } from 'react';
import { parseWords } from '../../contract/query.ts';
import type { AnswerEntry, CompactionEntry, PromptEntry } from '../../transcript/entry/entry.ts';
import { asText, firstLine } from '../../transcript/entry/value.ts';
import { Button } from '../kit/button.tsx';
import { formatCount, formatDuration, plural } from '../kit/format.ts';
import { Markdown } from '../kit/markdown.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { useNameOf } from '../shared/person-name.tsx';
import { textHeight } from './estimate.ts';
import { Fold } from './fold.tsx';
import { Images } from './images.tsx';
import type { MessageItem } from './model/items.ts';
import { Payload } from './payload.tsx';
import { useReading, useValue } from './reading.ts';
import { useText } from './use-text.ts';

interface Props {
  item: MessageItem;
  isOpen: boolean;
  onToggle: () => void;
  sessionId: string;
}

/** The id of the person to whom the session belongs; undefined if it belongs to nobody. */
export const PersonContext = createContext<string | undefined>(undefined);

function Author() {
  const userId = useContext(PersonContext);
  const nameOf = useNameOf();
  return userId === undefined ? 'prompt' : nameOf(userId);
}

export function Message({ item: { entry }, isOpen, onToggle, sessionId }: Props) {
  switch (entry.kind) {
    case 'prompt':
      return (
        <article aria-label="Prompt" className="message message-prompt">
          <span className="message-who">{entry.lane === undefined ? <Author /> : 'prompt'}</span>
          {(entry.length > 0 || entry.images === 0) && <LongText entry={entry} />}
          {entry.images > 0 && <Images sessionId={sessionId} entry={entry} />}
        </article>
      );
    case 'answer':
      return (
        <article aria-label="Answer" className="message">
          <LongText entry={entry} />
        </article>
      );
    case 'reasoning':
      return (
        <>
          <Fold isOpen={isOpen} onToggle={onToggle} muted>
            <span className="whitespace-nowrap">reasoning</span>
            {!isOpen && <span className="min-w-0 truncate">{plain(entry.text)}</span>}
          </Fold>
          {isOpen && (
            <div className="message-body text-muted">
              <LongText entry={entry} />
            </div>
          )}
        </>
      );
    case 'compaction':
      return <Compaction entry={entry} isOpen={isOpen} onToggle={onToggle} sessionId={sessionId} />;
    case 'turn':
      return (
        <p className={`timeline-turn ${entry.interrupted ? 'text-warn' : 'text-muted'}`}>
          {entry.interrupted ? 'turn interrupted' : 'turn finished'}
          {entry.durationMs !== undefined && ` after ${formatDuration(entry.durationMs)}`}
          {entry.reason && !entry.interrupted && ` · ${showHidden(entry.reason)}`}
        </p>
      );
    case 'error':
      return (
        <p className="message message-error" role="note">
          <CircleAlert size={14} aria-hidden className="mt-0.5 flex-none" />
          <span className="whitespace-pre-wrap">
            {entry.about && <strong className="mr-2 font-medium">{showHidden(entry.about)}</strong>}
            {showHidden(entry.text)}
          </span>
        </p>
      );
    case 'notice':
      return (
        <p className="message-notice">
          <span className="whitespace-nowrap">{showHidden(entry.about ?? 'notice')}</span>
          <span className="min-w-0 truncate">{showHidden(firstLine(entry.text))}</span>
        </p>
      );
  }
}

interface CompactionProps extends Omit<Props, 'item'> {
  entry: CompactionEntry;
}

function Compaction({ entry, isOpen, onToggle, sessionId }: CompactionProps) {
  const { trigger, tokensBefore, length, text, summary = entry } = entry;
  return (
    <>
      <p className="timeline-rule">
        <span className="truncate">
          compaction{trigger ? ` (${showHidden(trigger)})` : ''}
          {tokensBefore ? ` at ${formatCount(tokensBefore)} tokens` : ''}
        </span>
      </p>
      {length > 0 && (
        <Fold isOpen={isOpen} onToggle={onToggle} muted>
          <span className="whitespace-nowrap">summary, {plural(length, 'character')}</span>
          {!isOpen && <span className="min-w-0 truncate">{plain(text)}</span>}
        </Fold>
      )}
      {isOpen && (
        <div className="message-body">
          <Payload sessionId={sessionId} sequence={summary.sequence} span={summary.span}>
            {({ payload }) => <Markdown text={asText(payload.text) ?? asText(payload.summary) ?? ''} />}
          </Payload>
        </div>
      )}
    </>
  );
}

const plain = (text: string) => showHidden(firstLine(text).replace(/[*_`#]+/g, ''));

/** Longer texts are shown in part at first. */
const MAX_AT_FIRST: Record<'prompt' | 'answer' | 'reasoning', { lines: number; characters: number }> = {
  // A prompt may be a whole plan, and the reader also wants to see the work that follows.
  prompt: { lines: 12, characters: 1_000 },
  answer: { lines: 80, characters: 6_000 },
  reasoning: { lines: 80, characters: 6_000 },
};

function LongText({ entry }: { entry: PromptEntry | AnswerEntry }) {
  const { text, isWhole } = useText(entry);
  const [isUnfolded, setUnfolded] = useState(false);
  const folded = foldText(text, MAX_AT_FIRST[entry.kind]);
  const isFoundBelow = useValue(useReading().words, (words) => isBelow(words, text, folded.length));
  if (entry.length === 0) return <p className="text-muted">No text</p>;
  // The beginning of a text is not drawn as Markdown: it may open a fence that is closed in the part that is not loaded yet.
  if (!isWhole) {
    return (
      <p className="prose whitespace-pre-wrap" style={{ minHeight: textHeight(entry) }}>
        {showHidden(text)}…
      </p>
    );
  }
  const shown = isUnfolded || isFoundBelow ? text : folded;
  return (
    <>
      <Markdown text={shown} />
      {shown.length < text.length && (
        <Button size="small" className="mt-2" onClick={() => setUnfolded(true)}>
          Show all {formatCount(text.length)} characters
        </Button>
      )}
    </>
  );
}

/** The beginning of a text, up to the end of a line or of a word. */
function foldText(text: string, most: { lines: number; characters: number }): string {
  const lines = text.split('\n', most.lines).join('\n');
  if (lines.length <= most.characters) return lines;
  const beginning = lines.slice(0, most.characters);
  return beginning.slice(0, Math.max(beginning.lastIndexOf('\n'), beginning.lastIndexOf(' '), most.characters / 2));
}

/** Whether a term of the search first occurs after this position. */
function isBelow(words: string, text: string, place: number): boolean {
  if (words === '' || place >= text.length) return false;
  const lower = text.toLowerCase();
  return parseWords(words).terms.some((term) => lower.indexOf(term.text.toLowerCase()) >= place);
}
