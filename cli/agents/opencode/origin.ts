import type { JsonObject, Origin, TranscriptFile } from '../agent.ts';
import { peekWords } from '../reader.ts';
import { remainderOf } from '../remainder.ts';

/** The first record is the session's; a sub-agent has a session of its own, with a parent. */
export function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const remainder = remainderOf(first ?? {});
  const word = (...names: string[]) =>
    names.map((name) => peekWords(remainder, 'session', name)).find((text) => text !== undefined);
  const name = path.split('#')[1];
  const id = word('id') ?? name ?? path.replace(/\.[^.]*$/, '');
  const parent = peekWords(remainder, 'root') ?? word('parent_id', 'parentID');
  const agentVersion = word('version');
  const cwd = word('directory');
  return {
    session: parent ?? id,
    ...(parent !== undefined && { subagent: id }),
    ...(agentVersion !== undefined && { agentVersion }),
    ...(cwd !== undefined && { cwd }),
  };
}
