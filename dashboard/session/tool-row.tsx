import { FilePen, FilePlus, FileX } from 'lucide-react';
import { createContext, useContext } from 'react';
import type { FileStat } from '../../transcript/entry/changes.ts';
import { formatDuration } from '../kit/format.ts';
import { Lines } from '../kit/lines.tsx';
import { stripAnsi } from '../kit/text/ansi.ts';
import { showHidden } from '../kit/text/controls.ts';
import { CallBody } from './call-body.tsx';
import { Changes } from './changes.tsx';
import { Fold } from './fold.tsx';
import { Lane } from './fold-rows.tsx';
import { soleLane, type ToolItem } from './model/items.ts';
import { kindOfTool } from './model/kinds.ts';

interface Props {
  item: ToolItem;
  isOpen: boolean;
  onToggle: () => void;
  sessionId: string;
  /** The session is live, so a call without a result may still be running. */
  isLive: boolean;
}

/** A tool call in one line. It opens to its input and results, or to the diff if it changed files. */
export function Tool({ item, isOpen, onToggle, sessionId, isLive }: Props) {
  const isEdit = item.changes.length > 0;
  const lane = soleLane(item);
  if (lane) return <Lane item={lane} call={item} isOpen={isOpen} onToggle={onToggle} />;
  return (
    <>
      <Fold
        isOpen={isOpen}
        onToggle={onToggle}
        kind={item.failed ? 'failure' : isEdit ? 'edit' : kindOfTool(item.name)}
      >
        {isEdit ? <Files changes={item.changes} /> : <Call item={item} />}
        <Outcome item={item} isLive={isLive} />
      </Fold>
      {item.failed && !isOpen && <FailureLine results={item.results} />}
      {isOpen && (
        <div className="pt-0.5 pb-2.5 pl-[29px]">
          {isEdit && <Changes item={item} sessionId={sessionId} />}
          {(!isEdit || item.failed) && <CallBody item={item} sessionId={sessionId} />}
        </div>
      )}
    </>
  );
}

/** At most this many changed files are listed in the line of a call; the diff shows all. */
const MAX_FILES = 8;

const Files = ({ changes }: { changes: readonly FileStat[] }) => (
  <ul className="flex min-w-0 grow flex-col leading-6">
    {changes.slice(0, MAX_FILES).map((change, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a file may be changed twice
      <li key={index} className="flex min-w-0 items-center gap-2">
        <FileLine change={change} />
      </li>
    ))}
    {changes.length > MAX_FILES && <li className="text-12 text-muted">and {changes.length - MAX_FILES} more</li>}
  </ul>
);

const Call = ({ item }: { item: ToolItem }) => (
  <>
    <span className="tool-name" title={showHidden(item.name)}>
      {showHidden(item.name)}
    </span>
    <span className="font-mono min-w-0 grow truncate text-muted">{showHidden(item.call?.about ?? '')}</span>
  </>
);

/** The test runs after which the tests were known to pass or to fail, by the events that say so. */
export const TestRunsContext = createContext<ReadonlyMap<number, boolean>>(new Map());

/** The outcome and the duration of a call, at the edge of the content. Failed tests need no second word for the failure. */
function Outcome({ item, isLive }: { item: ToolItem; isLive: boolean }) {
  const runs = useContext(TestRunsContext);
  const passed = [item, ...item.results].map(({ sequence }) => runs.get(sequence)).find((each) => each !== undefined);
  const exitCode = item.results.find(({ exitCode: code }) => code)?.exitCode;
  const isWaiting = !item.failed && item.results.length === 0;
  return (
    <span className="row-meta">
      {item.failed && (exitCode !== undefined || passed !== false) && (
        <span className="exit-chip">{exitCode === undefined ? 'failed' : `exit ${exitCode}`}</span>
      )}
      {passed !== undefined && (
        <span className="exit-chip" data-passed={passed}>
          {passed ? 'tests passed' : 'tests failed'}
        </span>
      )}
      {isWaiting && <span className={isLive ? 'pulse' : ''}>{isLive ? 'running' : 'no result'}</span>}
      {item.durationMs !== undefined && item.durationMs >= 100 && formatDuration(item.durationMs)}
    </span>
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
      <span className="font-mono min-w-0 truncate" title={showHidden(change.path)}>
        <span className="text-muted">{showHidden(shorten(change.path.slice(0, slash)))}</span>
        {showHidden(change.path.slice(slash))}
        {change.movedTo && <span className="text-muted"> → {showHidden(change.movedTo)}</span>}
      </span>
      <span className="text-12">
        <Lines added={change.added} removed={change.removed} hidesZero />
      </span>
    </>
  );
}

/** Shortens a path to its last two folders, which are enough to recognize the file. */
function shorten(folder: string): string {
  const names = folder.split('/').filter(Boolean);
  return names.length > 2 ? `…/${names.slice(-2).join('/')}/` : folder;
}

const TELLING = [/error|exception|cannot|not found|denied|refused/i, /^[✖✗×]|not ok|FAILED/, /fail/i];

/** The line of the output that most likely names the error. */
function FailureLine({ results }: Pick<ToolItem, 'results'>) {
  const preview = results.find(({ failed }) => failed)?.preview ?? '';
  const lines = stripAnsi(preview)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(exit code|script completed|wall time|output:)/i.test(line));
  const telling = TELLING.map((pattern) => lines.find((line) => pattern.test(line))).find(Boolean) ?? lines[0];
  return telling ? <p className="tool-failure">{telling.slice(0, 300)}</p> : null;
}
