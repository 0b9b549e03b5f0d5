import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import type { JsonObject, RecordPlace } from '../agent.ts';
import { compose, type Draft, draft, type Reader, type Readers, readerOf } from '../shared/events.ts';
import { at, type Part, partOf, peek, peekText, takeSame, takeText } from '../shared/part.ts';
import { context, event } from '../shared/readers.ts';
import { threadOf } from '../shared/responses.ts';
import { readEvent, readSettings, readUsage } from './event.ts';
import { isResponseItem, readResponseItem } from './response-item.ts';

export function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const part = partOf(record);
  const type = peekText(part, 'type') ?? '';
  const drafts = (readerOf(READERS, type) ?? bareReader(type))?.(part, place) ?? [];
  const kind = kindOf(part, type);
  const envelope = {
    agent: 'codex',
    agentVersion: takeText(part, 'payload.cli_version'),
    record: takeId(part, type),
    occurredAt: takeText(part, 'timestamp'),
  } as const;
  return compose(part, place, envelope, drafts, kind);
}

const READERS: Readers = {
  session_meta: (part, place) => readMeta(at(part, 'payload'), place),
  turn_context: (part) => [...readSettings(at(part, 'payload')), ...readTexts(part, ...TURN_TEXTS)],
  response_item: (part) => readResponseItem(part, at(part, 'payload')),
  event_msg: readEvent,
  compacted: event('compaction', { summary: 'payload.message' }),
  // The program's facts about its surroundings, which it tells the model piece by piece.
  world_state: context('world_state'),
  token_usage_record: (part, place) => readUsage(part, place, 'payload.usage', 'payload.thread_token_usage'),
};

/** The reader for lines without an envelope. */
function bareReader(type: string): Reader | undefined {
  if (isResponseItem(type)) return (part) => readResponseItem(part, part);
  if (type !== '') return undefined;
  return (part, place) => (peek(part, 'id') === threadOf(place.origin) ? readMeta(part, place) : []);
}

const readThread = event('session.meta', {
  cwd: 'cwd',
  repository: 'git.repository_url',
  branch: 'git.branch',
  commit: 'git.commit_hash',
  forkedFrom: 'forked_from_id',
});

/** The description of the thread. It is written again at every resume. A description of another thread was copied into a fork. */
function readMeta(meta: Part, place: RecordPlace): Draft[] {
  const id = peekText(meta, 'id');
  if (id !== undefined && id !== threadOf(place.origin)) return [draft('record', { kind: 'duplicate:session_meta' })];
  takeSame(meta, 'id', id);
  return [...readThread(meta), ...readTexts(meta, 'base_instructions.text', 'base_instructions', 'instructions')];
}

const TURN_TEXTS = ['payload.user_instructions', 'payload.developer_instructions'];

/** Instructions, each under its own name. */
function readTexts(part: Part, ...places: string[]): Draft[] {
  return places.flatMap((place) => {
    const text = takeText(part, place);
    const kind = place.replace('payload.', '').replace('.text', '');
    return text === undefined ? [] : [draft('context.message', { text, kind })];
  });
}

function takeId(part: Part, type: string): string | undefined {
  if (type === 'response_item') return takeText(part, 'payload.id');
  if (type === 'token_usage_record') return takeText(part, 'payload.response_id');
  return isResponseItem(type) ? takeText(part, 'id') : undefined;
}

/** `event_msg` and `response_item` have many kinds, so the payload's type names the kind better. */
function kindOf(part: Part, type: string): string | undefined {
  const inner = peekText(part, 'payload.type');
  const item = inner === 'item_completed' ? peekText(part, 'payload.item.type') : undefined;
  return item ?? inner ?? (type || (peek(part, 'record_type') === 'state' ? 'state' : undefined));
}
