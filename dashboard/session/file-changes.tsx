import { useQueries } from '@tanstack/react-query';
import { changesOfCall, changesOfResult } from '../../transcript/entry/changes.ts';
import { asObject, asText } from '../../transcript/entry/value.ts';
import { DiffView } from '../kit/diff-view.tsx';
import { plural, relativePath } from '../kit/format.ts';
import { Lines } from '../kit/lines.tsx';
import { PathName } from '../kit/path-name.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { Changes } from './changes.tsx';
import type { ChangedFile, Edit } from './model/changed-files.ts';
import { cumulate, type Step } from './model/cumulate.ts';
import { type Turn, turnNumber } from './model/turns.ts';
import { usePayloadQuery, type WholeEvent } from './use-payload.ts';

interface Props {
  file: ChangedFile;
  index: number;
  turns: readonly Turn[];
  sessionId: string;
  folder: string | undefined;
  isByTurn: boolean;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  isViewed: boolean;
  onViewed: (isViewed: boolean) => void;
  onSelect: (sequence: number) => void;
}

/** The changes of a file in a box. The head of the box stays visible while the reader scrolls. */
export function FileChanges(props: Props) {
  const { file, index, turns, sessionId, folder, isByTurn, isOpen, onOpen, isViewed, onViewed, onSelect } = props;
  const { path, formerly, edits, added, removed, isNew, isGone } = file;
  return (
    <section
      className="mb-3 max-w-[1200px] scroll-mt-2 rounded-md border border-line [&_.diff-title]:hidden [&_.diff]:rounded-none [&_.diff]:border-0"
      data-file={index}
    >
      <div className="sticky top-0 z-1 flex items-center gap-3 rounded-md bg-sunken pr-3">
        <button
          type="button"
          className="flex min-h-9 min-w-0 flex-1 cursor-pointer items-center gap-3 rounded-md pl-3 text-left"
          aria-expanded={isOpen}
          onClick={() => onOpen(!isOpen)}
        >
          <span className="font-mono min-w-0 grow">
            <PathName path={[...formerly, path].map((name) => relativePath(name, folder)).join(' → ')} title={path} />
          </span>
          {isNew && <span className="tag text-ok">new</span>}
          {isGone && <span className="tag text-bad">deleted</span>}
          <span className="flex-none whitespace-nowrap text-12/5 text-muted max-sm:hidden num">
            {plural(edits.length, 'edit')}
          </span>
          <span className="flex-none text-12">
            <Lines added={added} removed={removed} />
          </span>
        </button>
        <label className="flex flex-none cursor-pointer items-center gap-[5px] text-12/5 text-muted">
          <input type="checkbox" checked={isViewed} onChange={(event) => onViewed(event.target.checked)} /> viewed
        </label>
      </div>
      {isOpen && !isByTurn && <Total {...{ file, turns, sessionId, onSelect }} />}
      {isOpen && isByTurn && <Turns {...{ edits, turns, sessionId, onSelect }} />}
    </section>
  );
}

export const EventLink = ({ sequence, onSelect }: { sequence: number; onSelect: (sequence: number) => void }) => (
  <button type="button" className="link num text-12" onClick={() => onSelect(sequence)}>
    #{sequence}
  </button>
);

/** Links to the edits, each with the last message before it. */
function Reasons({ edits, onSelect }: { edits: readonly Edit[]; onSelect: Props['onSelect'] }) {
  return edits.map(({ item, reason }, index) => {
    const isSame = reason !== undefined && edits[index - 1]?.reason?.sequence === reason.sequence;
    return (
      <p key={item.key} className="flex items-baseline gap-2.5 border-line border-t px-3 py-1 text-muted">
        <EventLink sequence={item.sequence} onSelect={onSelect} />
        {reason && !isSame && (
          <button
            type="button"
            title="Go to this message"
            className="min-w-0 cursor-pointer truncate text-left hover:text-text"
            onClick={() => onSelect(reason.sequence)}
          >
            {showHidden(reason.text)}
          </button>
        )}
      </p>
    );
  });
}

interface TurnsProps extends Pick<Props, 'turns' | 'sessionId' | 'onSelect'> {
  edits: readonly Edit[];
}

function Turns({ edits, turns, sessionId, onSelect }: TurnsProps) {
  return edits.map((edit, index) => (
    <div key={edit.item.key}>
      {edit.turn !== edits[index - 1]?.turn && (
        <p className="px-3 pt-2 text-12 text-muted">Turn {turnNumber(turns, edit.turn)}</p>
      )}
      <Reasons edits={[edit]} onSelect={onSelect} />
      <Changes item={edit.item} sessionId={sessionId} />
    </div>
  ));
}

/** The difference that all edits make together, or the single edits if it cannot be computed. */
function Total({ file, turns, sessionId, onSelect }: Pick<Props, 'file' | 'turns' | 'sessionId' | 'onSelect'>) {
  const query = usePayloadQuery(sessionId);
  const asked = file.edits.slice(0, MAX_EDITS).map(({ item }) => {
    const telling = item.results.find(({ changes }) => changes.length > 0);
    return { item, entry: telling ?? item.call ?? item.results[0], isResult: telling !== undefined };
  });
  const answers = useQueries({ queries: asked.map(({ entry }) => query(entry?.sequence ?? 1, entry?.span ?? 1)) });
  const failed = answers.find(({ isError }) => isError);
  if (failed) return <ErrorNote error={failed.error} onRetry={() => void failed.refetch()} />;
  if (answers.some(({ isPending }) => isPending)) return <p className="px-3 py-2 text-muted">Loading the changes…</p>;
  const names = new Set([file.path, ...file.formerly]);
  const steps = asked.flatMap(({ item, isResult }, index): Step[] => {
    const payload = answers[index]?.data?.payload;
    return payload ? stepsOf(payload, isResult ? undefined : item.name, names, item.sequence) : [];
  });
  const hunks = file.edits.length <= MAX_EDITS && cumulate(steps);
  if (!hunks) {
    return (
      <>
        <p className="px-3 pt-1 text-12 text-muted">
          The whole file was not recorded, so the edits are listed one by one.
        </p>
        <Turns edits={file.edits} {...{ turns, sessionId, onSelect }} />
      </>
    );
  }
  if (hunks.length === 0) return <p className="px-3 py-2 text-muted">No net change.</p>;
  return hunks.map((hunk) => (
    <div key={hunk.newStart}>
      <Reasons edits={file.edits.filter(({ item }) => hunk.sequences.includes(item.sequence))} onSelect={onSelect} />
      <DiffView path={file.path} hunks={[hunk]} />
    </div>
  ));
}

/** For a file with more edits, the total difference is not computed. */
const MAX_EDITS = 60;

function stepsOf(
  { input, detail }: WholeEvent['payload'],
  name: string | undefined,
  names: ReadonlySet<string>,
  sequence: number,
): Step[] {
  const before = asText(asObject(detail).originalFile);
  const changes = name === undefined ? changesOfResult(detail) : changesOfCall(name, input);
  return changes
    .filter(({ path }) => names.has(path))
    .map((change) => ({ sequence, change, ...(before !== undefined && { before }) }));
}
