import { useQueries } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { changesOfCall, changesOfResult } from '../../contract/entry/changes.ts';
import { asObject, asText } from '../../contract/entry/value.ts';
import { DiffView } from '../kit/diff-view.tsx';
import { formatCount, plural } from '../kit/format.ts';
import { Scroll } from '../kit/scroll.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Changes } from './changes.tsx';
import type { Timeline } from './model/build.ts';
import { type ChangedFile, type Edit, readChangedFiles, relativePath } from './model/changed-files.ts';
import { cumulate, type Step } from './model/cumulate.ts';
import { type Turn, turnNumber } from './model/turns.ts';
import { usePayloadQuery, type WholeEvent } from './use-payload.ts';

interface Props {
  timeline: Timeline;
  sessionId: string;
  /** Where the session began; what is in it is shown without it. */
  folder: string | undefined;
  onSelect: (sequence: number) => void;
}

/** Commands that are listed. */
const MOST_COMMANDS = 200;

/** What a pull request shows, for what the agent did: every file once, in total or by turn. */
export function ChangesView({ timeline, sessionId, folder, onSelect }: Props) {
  const { files, commands } = useMemo(() => readChangedFiles(timeline), [timeline]);
  const [isByTurn, setByTurn] = useState(false);
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <Scroll aria-label="Changes" className="changes-view">
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <h2 className="text-14">
          {plural(files.length, 'file')} changed <span className="num text-ok">+{formatCount(added)}</span>{' '}
          <span className="num text-bad">−{formatCount(removed)}</span>
        </h2>
        <fieldset className="chips">
          <legend className="sr-only">How to show changes</legend>
          <button type="button" className="chip" aria-pressed={!isByTurn} onClick={() => setByTurn(false)}>
            In total
          </button>
          <button type="button" className="chip" aria-pressed={isByTurn} onClick={() => setByTurn(true)}>
            By turn
          </button>
        </fieldset>
      </div>
      {files.map((file, index) => (
        <File
          key={file.path}
          {...{ file, turns: timeline.turns, sessionId, folder, isByTurn, onSelect }}
          isOpenAtFirst={index < 3}
        />
      ))}
      {files.length === 0 && <p className="text-muted">No file was changed by an edit tool.</p>}
      {commands.length > 0 && (
        <section className="mt-6">
          <h2 className="text-13">{plural(commands.length, 'command')} may have changed files</h2>
          <p className="mb-2 text-muted">Changes made by shell commands are not recorded, so they are missing above.</p>
          <ul className="flex flex-col">
            {commands.slice(0, MOST_COMMANDS).map(({ key, sequence, call }) => (
              <li key={key} className="flex items-baseline gap-3">
                <EventLink sequence={sequence} onSelect={onSelect} />
                <code className="mono min-w-0 truncate">{showHidden(call?.about ?? '')}</code>
              </li>
            ))}
          </ul>
          {commands.length > MOST_COMMANDS && (
            <p className="text-muted">and {formatCount(commands.length - MOST_COMMANDS)} more</p>
          )}
        </section>
      )}
    </Scroll>
  );
}

export const EventLink = ({ sequence, onSelect }: { sequence: number; onSelect: Props['onSelect'] }) => (
  <button type="button" className="link num text-12" onClick={() => onSelect(sequence)}>
    #{sequence}
  </button>
);

interface FileProps extends Pick<Props, 'sessionId' | 'folder' | 'onSelect'> {
  file: ChangedFile;
  turns: readonly Turn[];
  isByTurn: boolean;
  isOpenAtFirst: boolean;
}

function File({ file, turns, sessionId, folder, isByTurn, isOpenAtFirst, onSelect }: FileProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const { path, formerly, edits, added, removed, isNew, isGone } = file;
  return (
    <details className="changed-file" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span className="mono min-w-0 grow truncate" title={showHidden(path)}>
          {[...formerly, path].map((name) => showHidden(relativePath(name, folder))).join(' → ')}
        </span>
        {isNew && <span className="tag text-ok">new</span>}
        {isGone && <span className="tag text-bad">deleted</span>}
        <span className="num text-12 text-muted">{plural(edits.length, 'edit')}</span>
        <span className="num text-12 text-ok">+{formatCount(added)}</span>
        <span className="num text-12 text-bad">−{formatCount(removed)}</span>
      </summary>
      {isOpen && !isByTurn && <Total {...{ file, turns, sessionId, onSelect }} />}
      {isOpen && isByTurn && <Turns {...{ edits, turns, sessionId, onSelect }} />}
    </details>
  );
}

interface TurnsProps extends Pick<FileProps, 'turns' | 'sessionId' | 'onSelect'> {
  edits: readonly Edit[];
}

function Turns({ edits, turns, sessionId, onSelect }: TurnsProps) {
  return edits.map(({ item, turn }, index) => (
    <div key={item.key} className="px-3 pb-3">
      <p className="flex gap-3 py-1 text-12 text-muted">
        {turn !== edits[index - 1]?.turn && <span>Turn {turnNumber(turns, turn)}</span>}
        <EventLink sequence={item.sequence} onSelect={onSelect} />
      </p>
      <Changes item={item} sessionId={sessionId} />
    </div>
  ));
}

/** The difference that all edits make together; where that cannot be told, one edit after the other. */
function Total({ file, turns, sessionId, onSelect }: Pick<FileProps, 'file' | 'turns' | 'sessionId' | 'onSelect'>) {
  const query = usePayloadQuery(sessionId);
  const asked = file.edits.slice(0, MOST_EDITS).map(({ item }) => {
    const telling = item.results.find(({ changes }) => changes.length > 0);
    return { item, entry: telling ?? item.call ?? item.results[0], isResult: telling !== undefined };
  });
  const answers = useQueries({ queries: asked.map(({ entry }) => query(entry?.sequence ?? 1, entry?.span ?? 1)) });
  if (answers.some(({ isPending }) => isPending)) return <p className="px-3 py-2 text-muted">Loading the changes…</p>;
  const names = new Set([file.path, ...file.formerly]);
  const steps = asked.flatMap(({ item, isResult }, index): Step[] => {
    const payload = answers[index]?.data?.payload;
    return payload ? stepsOf(payload, isResult ? undefined : item.name, names, item.sequence) : [];
  });
  const hunks = file.edits.length <= MOST_EDITS && cumulate(steps);
  if (!hunks) {
    return (
      <>
        <p className="px-3 pt-1 text-12 text-muted">
          The whole file was not recorded: the edits follow one after the other.
        </p>
        <Turns edits={file.edits} {...{ turns, sessionId, onSelect }} />
      </>
    );
  }
  if (hunks.length === 0) return <p className="px-3 py-2 text-muted">No net change.</p>;
  return hunks.map((hunk) => (
    <div key={hunk.newStart} className="px-3 pb-3">
      <p className="flex gap-3 py-1">
        {hunk.sequences.map((sequence) => (
          <EventLink key={sequence} sequence={sequence} onSelect={onSelect} />
        ))}
      </p>
      <DiffView path={file.path} hunks={[hunk]} />
    </div>
  ));
}

/** Of a file that was edited more often, the whole is not put together. */
const MOST_EDITS = 60;

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
