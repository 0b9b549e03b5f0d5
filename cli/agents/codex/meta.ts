import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { type Path, peek, type Remainder } from '../remainder.ts';
import { peekText, takeSame, takeText } from '../typed.ts';
import { threadOf } from './origin.ts';

/** What the thread is. It is written again at every resume; one of another thread was copied into a fork. */
export function readSessionMeta(remainder: Remainder, place: RecordPlace, at: Path = ['payload']): Draft[] {
  const id = peekText(remainder, ...at, 'id');
  const isCopy = id !== undefined && id !== threadOf(place.origin);
  if (isCopy) return [draft('record', { kind: 'duplicate:session_meta' })];
  takeSame(remainder, id, ...at, 'id');
  const meta = draft('session.meta', {
    cwd: takeText(remainder, ...at, 'cwd'),
    repository: takeText(remainder, ...at, 'git', 'repository_url'),
    branch: takeText(remainder, ...at, 'git', 'branch'),
    commit: takeText(remainder, ...at, 'git', 'commit_hash'),
    forkedFrom: takeText(remainder, ...at, 'forked_from_id'),
  });
  const instructions = [['base_instructions', 'text'], ['base_instructions'], ['instructions']] as const;
  return [meta, ...readInstructions(remainder, at, instructions)];
}

/** What holds for a turn. */
export function readTurnContext(remainder: Remainder): Draft[] {
  const cwd = takeText(remainder, 'payload', 'cwd');
  const meta = draft('session.meta', { cwd, model: takeText(remainder, 'payload', 'model') });
  return [meta, ...readInstructions(remainder, ['payload'], [['user_instructions'], ['developer_instructions']])];
}

function readInstructions(
  remainder: Remainder,
  at: Path,
  paths: readonly (readonly [kind: string, ...Path])[],
): Draft[] {
  return paths.flatMap((path) => {
    const text = takeText(remainder, ...at, ...path);
    return text === undefined ? [] : [draft('context.message', { text, kind: path[0] })];
  });
}

/** Settings that were changed, and hold from here on. */
export function readSettings(remainder: Remainder): Draft[] {
  const at = ['payload', 'thread_settings'];
  return [
    draft('session.meta', { cwd: takeText(remainder, ...at, 'cwd'), model: takeText(remainder, ...at, 'model') }),
  ];
}

export function readThreadName(remainder: Remainder, place: RecordPlace): Draft[] {
  if (peek(remainder, 'payload', 'thread_id') !== threadOf(place.origin)) return [];
  return [draft('session.meta', { title: takeText(remainder, 'payload', 'thread_name') })];
}

export function readCompacted(remainder: Remainder): Draft[] {
  return [draft('compaction', { summary: takeText(remainder, 'payload', 'message') })];
}

/** All that the program knows of its surroundings and tells the model piece by piece. */
export function readWorldState(): Draft[] {
  return [draft('context.message', { kind: 'world_state' })];
}
