import { useMemo, useRef, useState } from 'react';
import { Choice } from '../kit/choice.tsx';
import { formatCount, plural } from '../kit/format.ts';
import { Lines } from '../kit/lines.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { useKeys } from '../kit/use-keys.ts';
import { EventLink, FileChanges } from './file-changes.tsx';
import { FileTree } from './file-tree.tsx';
import type { Timeline } from './model/build.ts';
import { type ChangedFile, readChangedFiles } from './model/changed-files.ts';
import { filesOf, toTree } from './model/file-tree.ts';
import { ViewArea } from './view-area.tsx';
import { useViewed } from './viewed-files.ts';

interface Props {
  timeline: Timeline;
  sessionId: string;
  /** The folder in which the session began. Paths are shown relative to it. */
  folder: string | undefined;
  onSelect: (sequence: number) => void;
}

/** At most this many commands are listed. */
const MAX_COMMANDS = 200;
/** At first, the changes of this many files are open. */
const MAX_OPEN = 10;

/** The agent's changes like a pull request: each file once, in total or by turn, with the reasons for its changes. */
export function ChangesView({ timeline, sessionId, folder, onSelect }: Props) {
  const { files: unordered, commands } = useMemo(() => readChangedFiles(timeline), [timeline]);
  const tree = useMemo(() => toTree(unordered, folder), [unordered, folder]);
  const files = useMemo(() => filesOf(tree), [tree]);
  const [isByTurn, setByTurn] = useState(false);
  const [current, setCurrent] = useState<string>();
  /** Files that the reader opened or closed. Of the others, the first ones are open unless they are viewed. */
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const viewed = useViewed(sessionId);
  const scroller = useRef<HTMLElement>(null);
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  const at = files.findIndex(({ path }) => path === current);
  const setOpen = ({ path }: ChangedFile, isOpen: boolean) => setChosen((before) => new Map(before).set(path, isOpen));
  const isOpen = (file: ChangedFile, index: number) => chosen.get(file.path) ?? (index < MAX_OPEN && !viewed.has(file));

  const go = (file: ChangedFile | undefined) => {
    if (!file) return;
    setCurrent(file.path);
    setOpen(file, true);
    const box = scroller.current?.querySelector<HTMLElement>(`[data-file="${files.indexOf(file)}"]`);
    box?.scrollIntoView({ block: 'start' });
    box?.querySelector('button')?.focus({ preventScroll: true });
  };
  const setViewed = (file: ChangedFile, isViewed: boolean) => {
    viewed.set(file, isViewed);
    setOpen(file, !isViewed);
  };
  useKeys([
    ['j', () => go(files[at + 1])],
    ['k', () => go(files[Math.max(0, at - 1)])],
    [
      'v',
      () => {
        const file = files[at];
        if (file) setViewed(file, !viewed.has(file));
      },
    ],
  ]);

  return (
    <div className="flex min-h-0 grow">
      {files.length > 0 && <FileTree {...{ tree, viewed }} current={files[at]} onGo={go} />}
      <ViewArea ref={scroller} aria-label="Changes">
        <div className="mb-3 flex flex-wrap items-center gap-3">
          <h2 className="text-14">
            {plural(files.length, 'file')} changed <Lines added={added} removed={removed} />
          </h2>
          <Choice
            label="How to show changes"
            options={[
              { value: 'total', label: 'In total' },
              { value: 'turn', label: 'By turn' },
            ]}
            value={isByTurn ? 'turn' : 'total'}
            onChange={(value) => setByTurn(value === 'turn')}
          />
          {files.length > 0 && (
            <span className="text-12 text-muted">
              {files.filter(viewed.has).length} of {files.length} viewed
              <span className="max-sm:hidden">
                {' '}
                · <kbd className="kbd">j</kbd> <kbd className="kbd">k</kbd> next, previous ·{' '}
                <kbd className="kbd">v</kbd> viewed
              </span>
            </span>
          )}
        </div>
        {files.map((file, index) => (
          <FileChanges
            key={file.path}
            {...{ file, index, turns: timeline.turns, sessionId, folder, isByTurn, onSelect }}
            isOpen={isOpen(file, index)}
            onOpen={(isOpen) => setOpen(file, isOpen)}
            isViewed={viewed.has(file)}
            onViewed={(isViewed) => setViewed(file, isViewed)}
          />
        ))}
        {files.length === 0 && <p className="text-muted">No file was changed by an edit tool.</p>}
        {commands.length > 0 && (
          <section className="mt-6">
            <h2 className="text-13">{plural(commands.length, 'command')} may have changed files</h2>
            <p className="mb-2 text-muted">
              Changes made by shell commands are not recorded, so they are missing above.
            </p>
            <ul className="flex flex-col">
              {commands.slice(0, MAX_COMMANDS).map(({ key, sequence, call }) => (
                <li key={key} className="flex items-baseline gap-3">
                  <EventLink sequence={sequence} onSelect={onSelect} />
                  <code className="font-mono min-w-0 truncate">{showHidden(call?.about ?? '')}</code>
                </li>
              ))}
            </ul>
            {commands.length > MAX_COMMANDS && (
              <p className="text-muted">and {formatCount(commands.length - MAX_COMMANDS)} more</p>
            )}
          </section>
        )}
      </ViewArea>
    </div>
  );
}
