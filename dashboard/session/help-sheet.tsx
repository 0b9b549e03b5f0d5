import { Dialog } from '../kit/dialog.tsx';
import { Pairs } from '../kit/pairs.tsx';
import { COMMAND_KEY } from '../kit/platform.ts';

const KEYS: readonly [keys: string[], does: string][] = [
  [['j', 'k'], 'next row, previous row'],
  [['[', ']'], 'previous turn, next turn'],
  [['n', 'p'], 'next failure, previous failure'],
  [['o', 'Space'], 'open or close the row'],
  [['Enter'], 'open or close the inspector'],
  [['e', 'E'], 'open everything, close everything'],
  [['l'], 'show only this sub-agent, show everything'],
  [['g g', 'G'], 'first row, last row'],
  [['/'], `find in the session, like ${COMMAND_KEY}F`],
  [['t'], 'local time, time since start, UTC'],
  [['y'], 'copy the link to the row'],
  [[`${COMMAND_KEY}K`], 'go to a page or a session'],
  [['Esc'], 'close the open panel, go back to the row'],
];

const COLOURS: readonly [token: string, means: string][] = [
  ['person', 'a prompt: a pin at the top'],
  ['failure', 'a failure: a dot at the bottom'],
  ['ok', 'the base line: tests are green or red'],
  ['text', 'a commit: a tick on the axis'],
  ['context', 'the line: how full the context of the model is'],
  ['read', 'reading and searching'],
  ['run', 'commands and other tools'],
  ['web', 'the web'],
  ['edit', 'changes of files'],
  ['subagent', 'sub-agents, which also have bars below'],
  ['reasoning', 'reasoning'],
  ['answer', 'answers'],
];
const OWN: ReadonlySet<string> = new Set(['context', 'ok', 'text']);
const colourOf = (token: string) => (OWN.has(token) ? `var(--${token})` : `var(--kind-${token})`);

export function HelpSheet({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys and colours" onClose={onClose}>
      <Pairs
        nameWidth={96}
        pairs={KEYS.map(([keys, does]) => ({
          name: does,
          head: keys.map((key) => (
            <kbd key={key} className="kbd">
              {key}
            </kbd>
          )),
          value: does,
        }))}
      />
      <h3 className="mt-5 mb-2 text-13">Strip colours; taller means more events</h3>
      <ul className="grid grid-cols-2 gap-x-4 gap-y-1 text-13">
        {COLOURS.map(([token, means]) => (
          <li key={token} className="flex items-baseline gap-2">
            <span aria-hidden className="size-2.5 flex-none rounded-sm" style={{ background: colourOf(token) }} />
            {means}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
