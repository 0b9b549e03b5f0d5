import type { CapturedEvent } from '../../../contract/transcript.ts';
import type { JsonObject, RecordPlace } from '../agent.ts';
import { compose, type Draft, draft, event, facts, fields, type Reader } from '../shared/events.ts';
import { countImages, readBlock, takeSaid, textsAt, withImages } from '../shared/messages.ts';
import { elementsAt, type Part, partOf, peek, peekText, takeSame, takeText } from '../shared/part.ts';

export function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const part = partOf(record);
  const type = peekText(part, 'type') ?? '';
  const drafts = READERS.get(type)?.(part, place) ?? [];
  if (type === 'session_start') takeSame(part, 'id', place.origin.session);
  const envelope = {
    agent: 'droid',
    record: takeText(part, 'id'),
    parent: takeText(part, 'parentId'),
    occurredAt: takeText(part, 'timestamp'),
  } as const;
  return compose(part, place, envelope, drafts, type || undefined);
}

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['message', readMessage],
  ['session_start', readStart],
  ['session_settings', facts({ model: 'model' })],
  ['compaction_state', event('compaction', { summary: ['summaryText', 'summary'], tokensBefore: 'tokensBefore' })],
  ['agent_turn_outcome', event('turn.finished', { reason: 'reason' })],
]);

const readSubagent = fields('subagent.started', { subagent: 'id', callId: 'callingToolUseId' });

/** The title of a sub-agent is what it was asked to do, and not the session's. */
function readStart(part: Part, { origin }: RecordPlace): Draft[] {
  const title = takeText(part, 'sessionTitle', 'title');
  const cwd = takeText(part, 'cwd');
  const started = origin.subagent === undefined ? [] : readSubagent(part, { description: title });
  if (started.length === 0) {
    return [draft('session.meta', { title, titleBy: title === undefined ? undefined : 'agent', cwd })];
  }
  return cwd === undefined ? started : [...started, draft('session.meta', { cwd })];
}

const CONTENT = 'message.content';

function readMessage(part: Part, place: RecordPlace): Draft[] {
  const role = peekText(part, 'message.role');
  if (role === 'assistant') return readAssistant(part);
  const isResult = (block: Part) => peek(block, 'type') === 'tool_result';
  const results = elementsAt(part, CONTENT)
    .filter(isResult)
    .flatMap((block) => readBlock(block));
  const texts = textsAt(part, CONTENT).map((at) => {
    const kind = injectedKind(part, place, peekText(at) ?? '', role);
    const text = takeText(at);
    return kind === undefined ? draft('user.message', { text }) : draft('context.message', { text, kind });
  });
  return withImages([...results, ...texts], countImages(part, CONTENT));
}

/** Why a text is no prompt; `undefined` if a person typed it. */
function injectedKind(part: Part, place: RecordPlace, text: string, role = ''): string | undefined {
  if (role !== 'user') return role || 'message';
  if (peekText(part, 'message.visibility') === 'llm_only') return 'llm_only';
  if (isReminder(text)) return 'system-reminder';
  return place.origin.subagent === undefined ? undefined : 'subagent-prompt';
}

/** Nothing but a reminder. A prompt may follow one in the same text, and stays whole with it. */
function isReminder(text: string): boolean {
  if (!text.trimStart().startsWith('<system-reminder>')) return false;
  const end = '</system-reminder>';
  const last = text.lastIndexOf(end);
  return last < 0 || text.slice(last + end.length).trim() === '';
}

function readAssistant(part: Part): Draft[] {
  const model = peekText(part, 'message.model');
  const text = takeText(part, CONTENT);
  const drafts = text === undefined ? [] : [draft('assistant.message', { text, model })];
  drafts.push(...elementsAt(part, CONTENT).flatMap((block) => readBlock(block, { model })));
  takeSaid(part, drafts, { model: 'message.model' });
  return drafts;
}
