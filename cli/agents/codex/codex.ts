import type { Agent, JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { headerOf, isTime, keyWithContent, stemOf, toOrigin, uuidAtEnd } from '../shared/identity.ts';
import { locate } from '../shared/locations.ts';
import { at, isObject, partOf, peek, peekText, peekWords } from '../shared/part.ts';
import { threadOf } from './event.ts';
import { parse } from './parse.ts';

/**
 * Codex writes a file per thread, append-only. Most facts stand in it twice: as a `response_item` (what the model was
 * sent and sent) and as an `event_msg` (what the person was shown). Every record is captured; which of the two becomes
 * the event of the conversation:
 *
 * | fact             | the event is made from                        | the other becomes                           |
 * | ---------------- | --------------------------------------------- | ------------------------------------------- |
 * | prompt           | `user_message`, item `UserMessage`            | `record`, kind `duplicate:user_message`     |
 * | injected context | `response_item` of user, developer, system    | –                                           |
 * | answer, thoughts | `response_item`                               | `record`, kind `duplicate:agent_message`, … |
 * | tool call        | `response_item`                               | –                                           |
 * | tool result      | `response_item`: output                       | `tool.result` with `detail`, same `callId`  |
 * | usage            | `token_count` and `token_usage_record`, which share a `responseId` made of the running total     |
 * | compaction       | `compacted`                                   | `record`, kind `duplicate:context_compacted`|
 *
 * Old versions had no envelope: the first line described the thread, the others were response items, none an event.
 */
export const codex: Agent = {
  id: 'codex',
  displayName: 'Codex',
  programs: ['codex'],
  ...locate({
    folder: '.codex',
    movedBy: 'CODEX_HOME',
    roots: ['sessions', 'archived_sessions'],
    credentials: ['auth.json', 'config.toml'],
  }),
  isTranscript: (path) => path.endsWith('.jsonl'),
  endsSession: ({ type, payload }) => type === 'event_msg' && isObject(payload) && payload.type === 'shutdown_complete',
  identify,
  recordKey,
  restates,
  parse,
};

/**
 * The file's name ends in the thread's id, and its first record describes the thread. The name is the surer of the two:
 * where the first record is lost, the next one may be that of the thread this one was forked from.
 */
function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const isWrapped = first?.type === 'session_meta';
  // In old versions the description had no envelope.
  const meta = at(headerOf(isWrapped || first?.type === undefined ? first : {}), isWrapped ? 'payload' : '');
  const described = peekWords(meta, 'id');
  const thread = uuidAtEnd(stemOf(path)) ?? described ?? path.replace(/\.jsonl$/, '');
  if (described !== thread) return { session: thread };
  const parents = ['session_id', 'parent_thread_id', 'source.subagent.thread_spawn.parent_thread_id'];
  const isSubagent = peek(meta, 'source.subagent') !== undefined || peek(meta, 'thread_source') === 'subagent';
  const parent = isSubagent ? peekWords(meta, ...parents.filter((at) => peek(meta, at) !== thread)) : undefined;
  return toOrigin({
    session: parent ?? thread,
    subagent: parent && thread,
    agentVersion: peekWords(meta, 'cli_version'),
    cwd: peekWords(meta, 'cwd'),
    branch: peekWords(meta, 'git.branch'),
    forkedFrom: peekWords(meta, 'forked_from_id'),
  });
}

/**
 * Since 0.149 records are numbered per thread. Before, a fork or a sub-agent began with a copy of its parent's records,
 * stamped with the time of copying. A copy is known by an id of the payload's own together with the same content: the id
 * alone is not enough (all commands of a turn share the turn's), nor is the content (a prompt of `continue` is typed
 * twice). What was said has no such id: where nothing is a copy, its time tells it, so that a person who captures a
 * backup of the same file finds no prompt twice. Other records get no key: they are repeated, in the copy, rather than lost.
 */
function recordKey(record: JsonObject, place: RecordPlace): string | undefined {
  const { type, ordinal, timestamp } = record;
  if (typeof ordinal === 'number' && isTime(timestamp)) {
    return ['thread', threadOf(place.origin), ordinal, typeof type === 'string' ? type : '', timestamp].join(' ');
  }
  if (type !== 'response_item' && type !== 'event_msg') return undefined;
  const payload = at(partOf(record), 'payload');
  const kind = peekText(payload, 'type') ?? '';
  const id = peekWords(payload, ID_OF.get(kind) ?? 'no such id');
  if (id !== undefined) return keyWithContent(`${kind} ${id.slice(0, 80)}`, record.payload);
  const mayBeCopied = place.origin.forkedFrom !== undefined || place.origin.subagent !== undefined;
  if (mayBeCopied || !TOLD_BY_TIME.has(kind) || !isTime(timestamp)) return undefined;
  return keyWithContent(`${threadOf(place.origin)} ${kind} ${timestamp}`, record.payload);
}

/** Until 0.149 copies bear the time of copying, so of a fork's records nothing tells which are copies. */
function restates({ ordinal }: JsonObject, { origin }: RecordPlace): boolean {
  return typeof ordinal !== 'number' && (origin.forkedFrom ?? origin.subagent) !== undefined;
}

/** What is never written twice in a millisecond; thoughts and counts of tokens are. */
const TOLD_BY_TIME: ReadonlySet<string> = new Set(['user_message', 'message', 'web_search_call']);

const CALLS = [
  ...['function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output', 'local_shell_call'],
  ...['tool_search_call', 'tool_search_output', 'exec_command_end', 'patch_apply_end', 'mcp_tool_call_end'],
];

/** The kinds that occur once for the id they carry. Encrypted thoughts are as good as an id. */
const ID_OF: ReadonlyMap<string, string> = new Map([
  ...CALLS.map((kind): [string, string] => [kind, 'call_id']),
  ...['task_started', 'task_complete', 'turn_aborted'].map((kind): [string, string] => [kind, 'turn_id']),
  ...['message', 'reasoning'].map((kind): [string, string] => [kind, 'id']),
]);
