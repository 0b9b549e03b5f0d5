import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import type { Path, Remainder } from '../remainder.ts';
import { peekText, takeSame, takeText } from '../typed.ts';

/** What the agent calls a session until it has thought of a title. */
const UNTITLED = /^(New|Child) session - \d{4}-/;

export function readSession(remainder: Remainder, at: Path, { origin }: RecordPlace): Draft[] {
  const isUntitled = UNTITLED.test(peekText(remainder, ...at, 'title') ?? '');
  const title = isUntitled ? undefined : takeText(remainder, ...at, 'title');
  takeSame(remainder, origin.agentVersion, ...at, 'version');
  takeSame(remainder, origin.session, 'root');
  return [
    draft('session.meta', {
      title,
      titleBy: title === undefined ? undefined : 'agent',
      cwd: takeText(remainder, ...at, 'directory'),
      model: takeText(remainder, ...at, 'model', 'id'),
    }),
  ];
}

/** Undone by the person: the rows are gone, and with them what this capture did not see in time. */
export function readRemoval(remainder: Remainder, at: Path): Draft[] {
  const id = ['partID', 'messageID'].map((name) => peekText(remainder, ...at, 'data', name)).find((text) => text);
  return [draft('notice', { text: `Taken back: ${id ?? 'a message'}`, kind: 'removed' })];
}
