import { join } from 'node:path';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, RecordPlace, Variables } from './agent.ts';
import { readEvent } from './codex/event.ts';
import { recordKey } from './codex/key.ts';
import { readCompacted, readSessionMeta, readTurnContext, readWorldState } from './codex/meta.ts';
import { identify, threadOf } from './codex/origin.ts';
import { isResponseItem, readResponseItem } from './codex/response-item.ts';
import { readUsageRecord } from './codex/usage.ts';
import { compose, type Draft, draft } from './compose.ts';
import { type Path, peek, type Remainder, remainderOf } from './remainder.ts';
import { peekText, takeText } from './typed.ts';

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
  variables: ['CODEX_HOME'],
  folder,
  credentials: (variables, home) => ['auth.json', 'config.toml'].map((file) => join(folder(variables, home), file)),
  roots: (variables, home) =>
    ['sessions', 'archived_sessions'].map((sessions) => join(folder(variables, home), sessions)),
  isTranscript: (path) => path.endsWith('.jsonl'),
  identify,
  recordKey,
  parse,
};

function folder(variables: Variables, home: string): string {
  return variables.CODEX_HOME || join(home, '.codex');
}

type Reader = (remainder: Remainder, place: RecordPlace) => Draft[];

const PAYLOAD: Path = ['payload'];

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['session_meta', (remainder, place) => readSessionMeta(remainder, place)],
  ['turn_context', readTurnContext],
  ['response_item', (remainder) => readResponseItem(remainder, PAYLOAD)],
  ['event_msg', readEvent],
  ['compacted', readCompacted],
  ['world_state', readWorldState],
  ['token_usage_record', readUsageRecord],
]);

function parse(record: Parameters<Agent['parse']>[0], place: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  const type = peekText(remainder, 'type') ?? '';
  const drafts = (READERS.get(type) ?? bareReader(type))?.(remainder, place) ?? [];
  if (drafts.length === 0) drafts.push(draft('record', { kind: kindOf(remainder, type) }));
  const envelope = {
    agent: codex.id,
    agentVersion: takeText(remainder, 'payload', 'cli_version'),
    record: takeId(remainder, type),
    occurredAt: takeText(remainder, 'timestamp'),
  };
  return compose(remainder, place, envelope, drafts);
}

/** How lines without an envelope are read. */
function bareReader(type: string): Reader | undefined {
  if (isResponseItem(type)) return (remainder) => readResponseItem(remainder, []);
  if (type !== '') return undefined;
  const describesThread = (remainder: Remainder, place: RecordPlace) =>
    peek(remainder, 'id') === threadOf(place.origin);
  return (remainder, place) => (describesThread(remainder, place) ? readSessionMeta(remainder, place, []) : []);
}

function takeId(remainder: Remainder, type: string): string | undefined {
  if (type === 'response_item') return takeText(remainder, 'payload', 'id');
  if (type === 'token_usage_record') return takeText(remainder, 'payload', 'response_id');
  return isResponseItem(type) ? takeText(remainder, 'id') : undefined;
}

/** `event_msg` and `response_item` hold many kinds: the payload's type is the better word. */
function kindOf(remainder: Remainder, type: string): string | undefined {
  const inner = peekText(remainder, 'payload', 'type');
  const item = inner === 'item_completed' ? peekText(remainder, 'payload', 'item', 'type') : undefined;
  const flat = peek(remainder, 'record_type') === 'state' ? 'state' : undefined;
  return item ?? inner ?? (type || flat);
}
