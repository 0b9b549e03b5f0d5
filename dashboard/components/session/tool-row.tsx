import { FilePen, FilePlus, FileX, X } from 'lucide-react';
import type { FileStat } from '../../../contract/entry/changes.ts';
import { stripAnsi } from '../../text/ansi.ts';
import { showHidden } from '../../text/controls.ts';
import type { ToolItem } from '../../timeline/items.ts';
import { formatCount } from '../../ui/format.ts';
import { Changes } from './changes.tsx';
import { Fold } from './fold.tsx';
import { Took } from './fold-rows.tsx';

interface Props {
  item: ToolItem;
  isOpen: boolean;
  onToggle: () => void;
  sessionId: string;
  /** The session goes on: what has no result yet may still be running. */
  isLive: boolean;
}

/** A tool call in one line; one that changed files opens to the diff. */
export function Tool({ item, isOpen, onToggle, sessionId, isLive }: Props) {
  if (item.changes.length === 0) return <Call item={item} isLive={isLive} />;
  return (
    <>
      <Fold isOpen={isOpen} onToggle={onToggle}>
        <ul className="flex min-w-0 flex-col leading-6">
          {item.changes.map((change, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a file may be changed twice
            <li key={index} className="flex min-w-0 items-center gap-2">
              <FileLine change={change} />
            </li>
          ))}
        </ul>
        <Took durationMs={item.durationMs} />
      </Fold>
      {isOpen && (
        <div className="message-body">
          <Changes item={item} sessionId={sessionId} />
        </div>
      )}
    </>
  );
}

const ICONS = { create: FilePlus, update: FilePen, delete: FileX };
const VERBS = { create: 'write', update: 'edit', delete: 'delete' };

export function FileLine({ change }: { change: FileStat }) {
  const Icon = ICONS[change.kind];
  const slash = change.path.lastIndexOf('/') + 1;
  return (
    <>
      <Icon size={14} aria-label={VERBS[change.kind]} className="flex-none text-muted" />
      <span className="min-w-0 truncate font-mono text-[12.5px]" title={showHidden(change.path)}>
        <span className="text-muted">{showHidden(shorten(change.path.slice(0, slash)))}</span>
        {showHidden(change.path.slice(slash))}
        {change.movedTo && <span className="text-muted"> → {showHidden(change.movedTo)}</span>}
      </span>
      {change.added > 0 && <span className="whitespace-nowrap text-12 text-ok">+{formatCount(change.added)}</span>}
      {change.removed > 0 && <span className="whitespace-nowrap text-12 text-bad">−{formatCount(change.removed)}</span>}
    </>
  );
}

/** The last two folders say where a file is. */
function shorten(folder: string): string {
  const names = folder.split('/').filter(Boolean);
  return names.length > 2 ? `…/${names.slice(-2).join('/')}/` : folder;
}

function Call({ item, isLive }: Pick<Props, 'item' | 'isLive'>) {
  const exitCode = item.results.find(({ exitCode: code }) => code)?.exitCode;
  const failure = item.results.find(({ failed }) => failed);
  return (
    <div className="tool-call">
      <span className="tool-name" title={showHidden(item.name)}>
        {showHidden(item.name)}
      </span>
      <span className="min-w-0 truncate font-mono text-[12.5px] text-muted">{showHidden(item.call?.about ?? '')}</span>
      {item.failed && (
        <span className="inline-flex flex-none items-center gap-1 whitespace-nowrap font-medium text-12 text-bad">
          <X size={12} aria-hidden />
          {exitCode === undefined ? 'failed' : `exit ${exitCode}`}
        </span>
      )}
      {!item.failed && item.results.length === 0 && (
        <span className={`whitespace-nowrap text-12 text-muted ${isLive ? 'pulse' : ''}`}>
          {isLive ? 'running' : 'no result'}
        </span>
      )}
      <Took durationMs={item.durationMs} />
      {failure && <FailureLine preview={failure.preview} />}
    </div>
  );
}

const TELLING = [/error|exception|cannot|not found|denied|refused/i, /^[✖✗×]|not ok|FAILED/, /fail/i];

/** The line that most likely says what went wrong. */
function FailureLine({ preview }: { preview: string }) {
  const lines = stripAnsi(preview)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(exit code|script completed|wall time|output:)/i.test(line));
  const telling = TELLING.map((pattern) => lines.find((line) => pattern.test(line))).find(Boolean) ?? lines[0];
  return telling ? <span className="tool-failure">{telling.slice(0, 300)}</span> : null;
}
