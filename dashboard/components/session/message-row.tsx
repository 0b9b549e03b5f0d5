import { CircleAlert, Image } from 'lucide-react';
import { useState } from 'react';
import type { AnswerEntry, PromptEntry } from '../../../contract/entry/entry.ts';
import { firstLine } from '../../../contract/entry/value.ts';
import { showHidden } from '../../text/controls.ts';
import type { MessageItem } from '../../timeline/items.ts';
import { Button } from '../../ui/button.tsx';
import { formatCount, formatDuration, plural } from '../../ui/format.ts';
import { Markdown } from '../../ui/markdown.tsx';
import { Fold } from './fold.tsx';
import { WholeText } from './whole-text.tsx';

interface Props {
  item: MessageItem;
  isOpen: boolean;
  onToggle: () => void;
  sessionId: string;
}

export function Message({ item: { entry }, isOpen, onToggle, sessionId }: Props) {
  switch (entry.kind) {
    case 'prompt':
      return (
        <article aria-label="Prompt" className="message message-prompt">
          <span className="message-who">you</span>
          <LongText entry={entry} sessionId={sessionId} />
          {entry.images > 0 && (
            <p className="mt-1 inline-flex items-center gap-1 text-12 text-muted">
              <Image size={14} aria-hidden /> {plural(entry.images, 'image')}
            </p>
          )}
        </article>
      );
    case 'answer':
      return (
        <article aria-label="Answer" className="message">
          <span className="message-who text-muted">agent</span>
          <LongText entry={entry} sessionId={sessionId} />
        </article>
      );
    case 'reasoning':
      return (
        <>
          <Fold isOpen={isOpen} onToggle={onToggle} muted>
            <span className="whitespace-nowrap">reasoning</span>
            {!isOpen && <span className="min-w-0 truncate">{showHidden(plain(firstLine(entry.text)))}</span>}
          </Fold>
          {isOpen && (
            <div className="message-body text-muted">
              <Markdown text={entry.text} />
            </div>
          )}
        </>
      );
    case 'compaction':
      return (
        <>
          <p className="timeline-rule">
            <span className="truncate">
              compaction{entry.trigger ? ` (${showHidden(entry.trigger)})` : ''}
              {entry.tokensBefore ? ` at ${formatCount(entry.tokensBefore)} tokens` : ''}
            </span>
          </p>
          {entry.length > 0 && (
            <Fold isOpen={isOpen} onToggle={onToggle} muted>
              <span className="whitespace-nowrap">summary</span>
              {!isOpen && <span className="min-w-0 truncate">{showHidden(plain(firstLine(entry.text)))}</span>}
            </Fold>
          )}
          {isOpen && (
            <div className="message-body">
              <Markdown text={entry.text} />
            </div>
          )}
        </>
      );
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
            {entry.about && <strong className="mr-2 font-semibold">{showHidden(entry.about)}</strong>}
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

const plain = (text: string) => text.replace(/[*_`#]+/g, '');

/** Longer texts are shown in part at first. */
const FOLD_CHARACTERS = 6_000;
const FOLD_LINES = 80;

function LongText({ entry, sessionId }: { entry: PromptEntry | AnswerEntry; sessionId: string }) {
  const { text, length, sequence, span } = entry;
  const [whole, setWhole] = useState(false);
  const lines = text.split('\n');
  const isLong = length > FOLD_CHARACTERS || lines.length > FOLD_LINES;
  if (whole && length > text.length) return <WholeText sessionId={sessionId} sequence={sequence} span={span} />;
  if (length === 0) return <p className="text-muted">No text</p>;
  if (whole || !isLong) return <Markdown text={text} />;
  return (
    <>
      <Markdown text={lines.slice(0, FOLD_LINES).join('\n').slice(0, FOLD_CHARACTERS)} />
      <Button size="small" className="mt-2" onClick={() => setWhole(true)}>
        Show all {formatCount(length)} characters
      </Button>
    </>
  );
}
