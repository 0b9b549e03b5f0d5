import { Dialog } from '../../ui/dialog.tsx';
import { COMMAND_KEY } from '../../ui/platform.ts';

const KEYS: readonly [keys: string[], does: string][] = [
  [['j', 'k'], 'next row, row before'],
  [['[', ']'], 'turn before, next turn'],
  [['n', 'p'], 'next failure, failure before'],
  [['o', 'Space'], 'open or close the row'],
  [['Enter'], 'open or close the inspector'],
  [['e', 'E'], 'open everything, close everything'],
  [['l'], 'only this sub-agent, everything again'],
  [['g g', 'G'], 'first row, last row'],
  [['/'], `find in the session, as does ${COMMAND_KEY}F`],
  [['t'], 'times by the clock, since the start, in UTC'],
  [['y'], 'copy the link to the row'],
  [[`${COMMAND_KEY}K`], 'go to a page or a session'],
  [['Esc'], 'close what is open, back to the row'],
];

export function HelpSheet({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="grid grid-cols-[96px_1fr] gap-y-2 text-13">
        {KEYS.map(([keys, does]) => (
          <div key={does} className="contents">
            <dt className="flex gap-1">
              {keys.map((key) => (
                <kbd key={key} className="kbd">
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
