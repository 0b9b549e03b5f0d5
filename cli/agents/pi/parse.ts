import type { CapturedEvent } from '../../../contract/transcript.ts';
import type { JsonObject, RecordPlace } from '../agent.ts';
import { compose, context, type Draft, draft, event, facts, notice, type Reader, usage } from '../shared/events.ts';
import { countImages, readBlock, readContext, takeSaid, textsAt, withImages } from '../shared/messages.ts';
import { elementsAt, type Part, partOf, peek, peekText, takeSame, takeText } from '../shared/part.ts';

export function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const part = partOf(record);
  const type = peekText(part, 'type') ?? '';
  const drafts =
    READERS.get(type === 'message' ? `message ${peekText(part, 'message.role')}` : type)?.(part, place) ?? [];
  if (type === 'session') takeSame(part, 'id', place.origin.session);
  const envelope = {
    agent: 'pi',
    record: takeText(part, 'id'),
    parent: takeText(part, 'parentId'),
    occurredAt: takeText(part, 'timestamp'),
  } as const;
  return compose(part, place, envelope, drafts, type || undefined);
}

/** Kinds of entries; of messages with their role. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['session', readHeader],
  ['session_info', facts({ title: 'name' }, 'person')],
  ['model_change', facts({ model: 'modelId' })],
  ['thinking_level_change', facts({})],
  ['compaction', event('compaction', { summary: 'summary', tokensBefore: 'tokensBefore' })],
  ['branch_summary', context('branch_summary', 'summary')],
  ['custom_message', (part) => readInjected(part, '')],
  ['label', notice('label', 'label')],
  ['message user', readUser],
  ['message assistant', readAssistant],
  [
    'message toolResult',
    event('tool.result', {
      callId: 'message.toolCallId',
      name: 'message.toolName',
      output: 'message.content',
      isError: 'message.isError',
      detail: 'message.details',
    }),
  ],
  ['message bashExecution', readShell],
  ['message custom', (part) => readInjected(part, 'message.')],
  ['message hookMessage', (part) => readInjected(part, 'message.')],
]);

/** Of which session it is a fork is mostly said as the path of that one's file: that is left in `rest`. */
function readHeader(part: Part, { origin }: RecordPlace): Draft[] {
  const isId = peek(part, 'parentSession') === origin.forkedFrom;
  const forkedFrom = isId ? takeText(part, 'parentSession') : undefined;
  return [draft('session.meta', { cwd: takeText(part, 'cwd'), forkedFrom })];
}

function readUser(part: Part): Draft[] {
  const texts = textsAt(part, 'message.content').map((text) => draft('user.message', { text: takeText(text) }));
  return withImages(texts, countImages(part, 'message.content'));
}

/** A command that the person ran, without the model. Its exit code is left in `rest`: the model called no tool. */
function readShell(part: Part): Draft[] {
  const command = takeText(part, 'message.command');
  const output = takeText(part, 'message.output');
  const drafts = [draft('context.message', { text: command, kind: 'shell-command' })];
  if (output !== undefined) drafts.push(draft('context.message', { text: output, kind: 'shell-output' }));
  return drafts;
}

/** What an extension put before the model. */
function readInjected(part: Part, prefix: string): Draft[] {
  const kind = peekText(part, `${prefix}customType`) ?? 'custom';
  const drafts = readContext(textsAt(part, `${prefix}content`), kind);
  return drafts.length > 0 ? drafts : [draft('context.message', { kind })];
}

const readUsage = usage(
  {
    inputTokens: 'message.usage.input',
    outputTokens: 'message.usage.output',
    cacheReadTokens: 'message.usage.cacheRead',
    cacheWriteTokens: 'message.usage.cacheWrite',
    totalTokens: 'message.usage.totalTokens',
  },
  'excluded',
);

/** One API response; one that failed has an `errorMessage`. */
function readAssistant(part: Part): Draft[] {
  const model = peekText(part, 'message.model');
  const messageId = peekText(part, 'message.responseId');
  const drafts = elementsAt(part, 'message.content').flatMap((block) => readBlock(block, { model, messageId }));
  // Not every provider has an id of the response; the entry's own is equal in a fork.
  drafts.push(...readUsage(part, { responseId: messageId ?? peekText(part, 'id'), model }));
  const isAborted = peek(part, 'message.stopReason') === 'aborted';
  const error = isAborted ? undefined : takeText(part, 'message.errorMessage');
  if (isAborted) drafts.push(draft('turn.finished', { reason: takeText(part, 'message.stopReason') }));
  if (error !== undefined) drafts.push(draft('error', { text: error, kind: peekText(part, 'message.stopReason') }));
  takeSaid(part, drafts, { model: 'message.model', messageId: 'message.responseId' });
  return drafts;
}
