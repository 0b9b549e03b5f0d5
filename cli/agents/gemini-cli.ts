import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject, RecordPlace } from './agent.ts';
import { compose, draft } from './compose.ts';
import { readAnswer } from './gemini-cli/answer.ts';
import { readChange } from './gemini-cli/change.ts';
import { identify, isTranscript } from './gemini-cli/origin.ts';
import { readUser } from './gemini-cli/user.ts';
import { facts, keyOf, notice, type Reader } from './reader.ts';
import { peek, remainderOf } from './remainder.ts';
import { peekText, takeFirstText, takeSame, takeText } from './typed.ts';

/**
 * Gemini CLI writes a file per session and one per sub-agent: a log of changes to a document, a change per line.
 * - A message is written again, with the same `id`, when its tools have answered: each writing is captured, `source.record`
 *   is the same, and the last one is how the message is. Its usage has the message as `responseId`, so it counts once.
 * - `$set` changes the document's own fields. With `messages` it replaces the history, which says again what stands above,
 *   or is the context at the start: an event of the context without text.
 * - `$rewindTo` takes messages back.
 *
 * A tool's answer stands in the message that called it and in a message to the model: the latter becomes a `record`.
 */
export const geminiCli: Agent = {
  id: 'gemini-cli',
  displayName: 'Gemini CLI',
  // The variable replaces the home folder.
  roots: (variables, home) => [join(variables.GEMINI_CLI_HOME || home, '.gemini', 'tmp')],
  isTranscript,
  identify,
  recordKey,
  parse,
};

const TOLD = ['content'];

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['user', readUser],
  ['gemini', readAnswer],
  ['info', notice('info', TOLD)],
  ['warning', notice('warning', TOLD)],
  ['error', (remainder) => [draft('error', { text: takeText(remainder, ...TOLD), kind: 'error' })]],
]);

/** A message with another content is another record: a revision. */
function recordKey(record: JsonObject): string | undefined {
  const key = keyOf(record, 'id');
  return key && `${key} ${createHash('sha256').update(JSON.stringify(record)).digest('base64url')}`;
}

function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  const type = peekText(remainder, 'type') ?? '';
  const drafts = (READERS.get(type) ?? bareReader(record))?.(remainder, place) ?? [];
  if (drafts.length === 0) drafts.push(draft('record', { kind: type || undefined }));
  if (peek(remainder, 'id') === undefined) takeSame(remainder, place.origin.session, 'sessionId');
  const envelope = {
    agent: geminiCli.id,
    record: takeText(remainder, 'id'),
    occurredAt: takeFirstText(remainder, ['timestamp'], ['startTime'], ['$set', 'lastUpdated']),
  };
  return compose(remainder, place, envelope, drafts);
}

/** How lines that are no messages are read. */
function bareReader(record: JsonObject): Reader | undefined {
  if (Object.hasOwn(record, '$set')) return readChange;
  if (Object.hasOwn(record, '$rewindTo')) return notice('rewind');
  return Object.hasOwn(record, 'projectHash') ? facts({}) : undefined;
}
