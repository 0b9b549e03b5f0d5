import { createHash } from 'node:crypto';
import type { JsonObject, RecordPlace } from '../agent.ts';
import { isTime } from '../reader.ts';
import { peek, remainderOf } from '../remainder.ts';
import { peekText } from '../typed.ts';
import { threadOf } from './origin.ts';

/**
 * Since 0.149 records are numbered per thread. Before, a fork or a sub-agent began with a copy of its parent's records,
 * stamped with the time of copying. A copy is known by an id of the payload's own together with the same content: the id
 * alone is not enough (all commands of a turn share the turn's), nor is the content (a prompt of `continue` is typed
 * twice). Records that have no such id get no key: they are repeated, in the copy, rather than lost.
 */
export function recordKey(record: JsonObject, place: RecordPlace): string | undefined {
  const whole = remainderOf(record);
  const type = peekText(whole, 'type');
  const ordinal = peek(whole, 'ordinal');
  const timestamp = peekText(whole, 'timestamp');
  if (typeof ordinal === 'number' && isTime(timestamp)) {
    return ['thread', threadOf(place.origin), ordinal, type, timestamp].join(' ');
  }
  if (type !== 'response_item' && type !== 'event_msg') return undefined;
  const kind = peekText(whole, 'payload', 'type') ?? '';
  const id = ID_OF.get(kind)
    ?.map((key) => peekText(whole, 'payload', key))
    .find(Boolean);
  if (id === undefined) return undefined;
  return [kind, id.slice(0, 80), createHash('sha256').update(JSON.stringify(record.payload)).digest('base64url')].join(
    ' ',
  );
}

const CALL = ['call_id'];
const TURN = ['turn_id'];

/** The kinds that occur once for the id they carry. Encrypted thoughts are as good as an id. */
const ID_OF: ReadonlyMap<string, readonly string[]> = new Map([
  ['function_call', CALL],
  ['function_call_output', CALL],
  ['custom_tool_call', CALL],
  ['custom_tool_call_output', CALL],
  ['local_shell_call', CALL],
  ['tool_search_call', CALL],
  ['tool_search_output', CALL],
  ['exec_command_end', CALL],
  ['patch_apply_end', CALL],
  ['mcp_tool_call_end', CALL],
  ['task_started', TURN],
  ['task_complete', TURN],
  ['turn_aborted', TURN],
  ['message', ['id']],
  ['reasoning', ['id']],
]);
