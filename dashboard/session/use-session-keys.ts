import { Columns2, Copy, FoldVertical, TriangleAlert, UnfoldVertical } from 'lucide-react';
import { type Dispatch, type SetStateAction, useEffect } from 'react';
import type { SessionSearch } from '../../contract/pages.ts';
import { useCommands } from '../kit/commands.ts';
import { type Keys, useKeys } from '../kit/use-keys.ts';
import { canOpen } from './model/rows.ts';
import type { Reading } from './reading.ts';
import { cycleTimeMode } from './time-link.tsx';
import type { View } from './use-view.ts';
import type { useWalk } from './walk.ts';

/** The panel that is open above or beside the rows. */
export type Panel = 'help' | 'find' | 'mask' | undefined;

interface Options {
  reading: Reading;
  view: View;
  walk: ReturnType<typeof useWalk>;
  panel: Panel;
  /** The timeline is shown, not another view, so keys act on its rows. */
  isReading: boolean;
  setPanel: (panel: Panel) => void;
  setInspecting: Dispatch<SetStateAction<boolean>>;
  search: (change: SessionSearch) => void;
  linkOf: () => string;
  /** Opens the list to pick another session for a comparison. */
  compare: () => void;
  tell: (words: string) => void;
  /** Closes the open panel, and gives the focus back to the current row. */
  leave: () => void;
}

/** The keyboard shortcuts of a session. They act on the current row, which has the focus. */
export function useSessionKeys(options: Options): void {
  const { reading, view, walk, panel, isReading, setPanel, setInspecting, search, linkOf, compare, tell, leave } =
    options;
  const row = () => view.rows[view.indexOf(reading.current.get()?.key ?? '')];
  const toggle = () => {
    const item = row()?.item;
    if (item && canOpen(item)) view.toggle(item);
  };
  const setAll = (open: boolean) => {
    view.setAll(open);
    walk.stay();
  };
  const copyLink = () =>
    navigator.clipboard.writeText(linkOf()).then(
      () => tell('The link is copied.'),
      () => tell('The browser refused to copy the link.'),
    );
  const onlyLane = () => {
    const item = row()?.item;
    if (item?.kind === 'lane') search({ lane: item.lane });
    else search({ lane: undefined });
  };

  const ofRows: Keys = [
    ['j', () => walk.step(1)],
    ['k', () => walk.step(-1)],
    ['ArrowDown', () => walk.step(1)],
    ['ArrowUp', () => walk.step(-1)],
    ['n', () => walk.stepFailure(1)],
    ['p', () => walk.stepFailure(-1)],
    [']', () => walk.stepTurn(1)],
    ['[', () => walk.stepTurn(-1)],
    ['g g', () => walk.step(-view.rows.length)],
    ['G', () => walk.step(view.rows.length)],
    ['o', toggle],
    [' ', toggle],
    ['e', () => setAll(true)],
    ['E', () => setAll(false)],
    ['l', onlyLane],
  ];

  useKeys([
    ...(isReading ? ofRows : []),
    ['t', cycleTimeMode],
    ['y', () => void copyLink()],
    ['Enter', () => setInspecting((before) => !before)],
    ['/', () => setPanel('find')],
    ['?', () => setPanel('help')],
    ['Escape', leave],
  ]);

  useCommands([
    { label: 'Copy the link to this event', icon: Copy, does: copyLink },
    { label: 'Compare with another session', icon: Columns2, does: compare },
    { label: 'Next failure', icon: TriangleAlert, does: () => walk.stepFailure(1) },
    { label: 'Open all rows', icon: UnfoldVertical, does: () => setAll(true) },
    { label: 'Close all rows', icon: FoldVertical, does: () => setAll(false) },
  ]);

  // The browser's own search only covers rendered rows. The second press of the shortcut opens it.
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'f' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
        return;
      if (panel === 'find') return;
      event.preventDefault();
      setPanel('find');
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [panel, setPanel]);
}
