import type { JsonObject, Origin, TranscriptFile } from '../agent.ts';
import { type Path, peek, remainderOf } from '../remainder.ts';
import { peekText } from '../typed.ts';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** The thread whose file it is: of a sub-agent its own, not the session's. */
export const threadOf = (origin: Origin): string => origin.subagent ?? origin.session;

/**
 * The file's name ends in the thread's id, and its first record describes the thread. The name is the surer of the two:
 * where the first record is lost, the next one may be that of the thread this one was forked from.
 */
export function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const named = new RegExp(`(${UUID})\\.jsonl$`, 'i').exec(path)?.[1];
  const meta = remainderOf(first ?? {});
  // In old versions the description had no envelope.
  const at: Path = first?.type === 'session_meta' ? ['payload'] : [];
  const text = (...keys: string[]) => peekText(meta, ...at, ...keys) || undefined;
  const described = first?.type === 'session_meta' || first?.type === undefined ? text('id') : undefined;
  const thread = named ?? described ?? path.replace(/\.jsonl$/, '');
  if (described !== thread) return { session: thread };
  const spawn = ['source', 'subagent', 'thread_spawn', 'parent_thread_id'];
  const isSubagent = peek(meta, ...at, 'source', 'subagent') !== undefined || text('thread_source') === 'subagent';
  const session = [text('session_id'), text('parent_thread_id'), text(...spawn)].find((id) => id && id !== thread);
  return {
    session: isSubagent ? (session ?? thread) : thread,
    ...(isSubagent && session !== undefined && { subagent: thread }),
    ...present('agentVersion', text('cli_version')),
    ...present('cwd', text('cwd')),
    ...present('branch', text('git', 'branch')),
    ...present('forkedFrom', text('forked_from_id')),
  };
}

function present<Key extends keyof Origin>(key: Key, value: string | undefined): { [K in Key]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]?: string });
}
