import type { CapturedEvent } from '../../../contract/transcript.ts';
import type { JsonObject, RecordPlace } from '../agent.ts';
import type { Dialect } from '../cline/parse.ts';
import { compose, type Draft, draft } from '../compose.ts';
import { toTimestamp } from '../document.ts';
import { peek, type Remainder, remainderOf } from '../remainder.ts';
import { peekText, takeText } from '../typed.ts';
import { kindOf, readShown } from './shown.ts';

/**
 * The older extension of Cline, Roo Code and the older Kilo Code keep a folder per task, with documents that are written
 * anew at each change:
 * - `ui_messages.json`, what the person sees: prompts, answers, tools, output of commands and, in `api_req_started`, tokens.
 *   Each has a time, and a compaction takes nothing out of it. So the events of the session are made from it.
 * - `api_conversation_history.json`, what the model sees: the same conversation with the tools' whole output, in older
 *   versions as XML within texts, without times, shortened when it is compacted. Its messages are kept as they are,
 *   one `record` each, so that nothing is shown twice and nothing is lost.
 * - `task_metadata.json` and `history_item.json`, facts about the task. The totals in there are no usage.
 *
 * Texts that are JSON are unfolded where that loses nothing. A message keeps its time when it is written again, so its
 * time and kind are its `source.record`; output of a command, which comes several times in a millisecond, has none.
 * What was taken back with a checkpoint was said, so it stays. Tasks that one task gave to another are sessions of their own.
 */
export function parseTask({ agent, cached }: Dialect, record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  const time = peek(remainder, 'ts');
  const kind = kindOf(remainder);
  const drafts = kind === undefined ? readOther(remainder) : readShown(remainder, { kind, place, cached });
  const isNamed = kind !== undefined && kind !== 'command_output' && typeof time === 'number';
  const envelope = {
    agent,
    ...(isNamed ? { record: `${time} ${peekText(remainder, 'type')}:${kind}`, revision: 0 } : nameOf(remainder)),
    occurredAt: toTimestamp(time),
  };
  return compose(remainder, place, envelope, drafts);
}

/** A task's only record of its kind. */
const nameOf = (remainder: Remainder) =>
  peek(remainder, 'tokensIn') === undefined ? {} : { record: 'history_item', revision: 0 };

/** What the model sees, and facts. */
function readOther(remainder: Remainder): Draft[] {
  const role = peekText(remainder, 'role');
  if (role !== undefined) return [draft('record', { kind: `history:${role}` })];
  if (peek(remainder, 'tokensIn') !== undefined) {
    const title = takeText(remainder, 'title') ?? takeText(remainder, 'task');
    return [draft('session.meta', { title, titleBy: 'agent', cwd: takeText(remainder, 'workspace') })];
  }
  if (peek(remainder, 'model_usage') !== undefined) {
    return [draft('session.meta', { model: takeText(remainder, 'model_usage', 'model_id') })];
  }
  const [kind] = Object.keys(remainder.record);
  return [draft('record', { kind: FACTS.has(kind ?? '') ? kind : undefined })];
}

const FACTS = new Set(['environment_history', 'files_in_context', 'version']);
