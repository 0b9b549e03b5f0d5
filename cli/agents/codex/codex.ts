import type { Agent, JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { headerOf, isTime, isUuid, keyWithContent, stemOf, toOrigin, uuidAtEnd } from '../shared/identity.ts';
import { locate } from '../shared/locations.ts';
import { at, isObject, partOf, peek, peekText, peekWords } from '../shared/part.ts';
import { threadOf } from '../shared/responses.ts';
import { parse } from './parse.ts';
import { RESTORED } from './restored.ts';

/**
 * Codex writes a file per thread, append-only. Since 0.146, a thread that is resumed may go on in a further file, which is named
 * after the thread and then after itself: `rollout-<time>-<thread>_<file>.jsonl`. Most facts are in it twice: as a `response_item` (sent to or from
 * the model) and as an `event_msg` (shown to the person). Every record is captured. This table shows which of the two
 * becomes the event of the conversation:
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
  plainRecords: [
    'account/rateLimits/updated',
    'codex/event/raw_item',
    'collab_agent_spawn_end',
    'dynamic_tool_call_request',
    'ghost_snapshot',
    'inter_agent_communication_metadata',
    'state',
    'task_started',
    'thread_name_updated',
    'token_count',
    'turn.completed',
  ],
  recordKey,
  readPrompt: ({ session_id: session, ts, text }) =>
    typeof session === 'string' && typeof ts === 'number' && typeof text === 'string'
      ? { session, time: ts * 1000, text }
      : undefined,
  restates,
  restored: RESTORED,
  continuation: {
    path: (session, _folder, now) => {
      const time = now.toISOString().slice(0, 19);
      return `${time.slice(0, 10).replaceAll('-', '/')}/rollout-${time.replaceAll(':', '-')}-${session}.jsonl`;
    },
    command: (session) => ['codex', 'resume', session],
    mark: (record, original) =>
      record.type === 'session_meta' && isObject(record.payload)
        ? { ...record, payload: { ...record.payload, forked_from_id: original } }
        : record,
  },
  parse,
};

/**
 * The file's name has the thread's id, and its first record describes the thread. The name is more reliable: if the first
 * record is lost, the next one may describe the thread that this one was forked from.
 */
function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const isWrapped = first?.type === 'session_meta';
  // In old versions, the description had no envelope.
  const meta = at(headerOf(isWrapped || first?.type === undefined ? first : {}), isWrapped ? 'payload' : '');
  const described = peekWords(meta, 'id');
  const thread = threadIn(stemOf(path)) ?? described ?? path.replace(/\.jsonl$/, '');
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
    copiedUntil: isSubagent || peekWords(meta, 'forked_from_id') ? copiedUntil(first) : undefined,
  });
}

/**
 * Copies are written with the first record. Up to 1.7 seconds later, the turn begins by writing the parent's count again. The first
 * response took at least 7 seconds in real sessions.
 */
const COPYING_MS = 2_000;

/** The latest time of a copy in a file whose first record is this one. Numbered records are never copies. */
function copiedUntil({ ordinal, timestamp }: JsonObject = {}): string | undefined {
  if (typeof ordinal === 'number' || !isTime(timestamp)) return undefined;
  return new Date(Date.parse(timestamp) + COPYING_MS).toISOString();
}

/** The thread in the name of a file. */
function threadIn(stem: string): string | undefined {
  const [, thread] = /(.{36})_.{36}$/.exec(stem) ?? [];
  return thread !== undefined && isUuid(thread) ? thread : uuidAtEnd(stem);
}

/**
 * Since 0.149, records are numbered per thread. Before, a fork or a sub-agent began with a copy of its parent's records, with
 * the time of copying. A copy is recognised by an id in the payload together with the same content. The id alone is not
 * enough, because all commands of a turn share the turn's id. The content alone is not enough either, because a prompt of
 * `continue` is typed twice. Prompts and messages have no such id. Where nothing is a copy, their time identifies them, so
 * that a person who captures a backup of the same file finds no prompt twice. Other records get no key, because a repeated
 * copy is better than a lost record.
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

/** Until 0.149, copies have the time of copying, so nothing shows which records of a fork are copies. */
function restates({ ordinal }: JsonObject, { origin }: RecordPlace): boolean {
  return typeof ordinal !== 'number' && (origin.forkedFrom ?? origin.subagent) !== undefined;
}

/** Kinds that are never written twice in a millisecond. Thoughts and token counts are. */
const TOLD_BY_TIME: ReadonlySet<string> = new Set(['user_message', 'message', 'web_search_call']);

const CALLS = [
  ...['function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output', 'local_shell_call'],
  ...['tool_search_call', 'tool_search_output', 'exec_command_end', 'patch_apply_end', 'mcp_tool_call_end'],
];

/** The kinds that occur once for the id they carry. Encrypted thoughts identify a record as well as an id. */
const ID_OF: ReadonlyMap<string, string> = new Map([
  ...CALLS.map((kind): [string, string] => [kind, 'call_id']),
  ...['task_started', 'task_complete', 'turn_aborted'].map((kind): [string, string] => [kind, 'turn_id']),
  ...['message', 'reasoning'].map((kind): [string, string] => [kind, 'id']),
]);
