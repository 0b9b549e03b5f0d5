import type { CapturedEvent } from '../../../contract/transcript.ts';
import type { RecordPlace } from '../agent.ts';
import { compose, type Draft, draft } from '../compose.ts';
import { elementsAt } from '../reader.ts';
import { type Path, peek, type Remainder } from '../remainder.ts';
import { peekText, takeText } from '../typed.ts';
import { textsAt } from './user.ts';

/** Mostly only the time of the last change. */
export function readChange(remainder: Remainder): Draft[] {
  const title = takeText(remainder, '$set', 'summary');
  if (title !== undefined) return [draft('session.meta', { title, titleBy: 'agent' })];
  const changed = Object.keys((peek(remainder, '$set') ?? {}) as object);
  // The time of the message before it.
  return [draft('record', { kind: changed.join() === 'lastUpdated' ? 'duplicate:lastUpdated' : '$set' })];
}

export function readRewind(remainder: Remainder): Draft[] {
  const id = peekText(remainder, '$rewindTo') ?? '';
  return [
    draft('notice', { text: `Went back to before message ${id}: what was said since counts no more`, kind: 'rewind' }),
  ];
}

const HISTORY = ['$set', 'messages'];

/** A whole history in place of what was; undefined where the record is none. */
export function parseCheckpoint(remainder: Remainder, place: RecordPlace): CapturedEvent[] | undefined {
  const messages = elementsAt(remainder, ...HISTORY);
  if (messages.length === 0 || peek(remainder, 'id') !== undefined) return undefined;
  // Every checkpoint of a session says them again: they are revisions of one record.
  const said = messages.flatMap((message) => readSaid(remainder, place, message));
  const occurredAt = takeText(remainder, '$set', 'lastUpdated');
  const drafts = [draft('context.message', { kind: 'checkpoint' })];
  const events = [...compose(remainder, place, { agent: 'gemini-cli', occurredAt }, drafts), ...said];
  if (events.length > 1) for (const [index, { payload }] of events.entries()) payload.source.index = index;
  return events;
}

/** What is said nowhere but in a checkpoint. */
function readSaid(remainder: Remainder, place: RecordPlace, message: Path): CapturedEvent[] {
  const texts = textsAt(remainder, ...message, 'content');
  const at = texts.length === 1 ? texts[0] : undefined;
  if (at === undefined || peekText(remainder, ...message, 'type') !== 'user') return [];
  const [, tag] = /^\s*<(session_context|state_snapshot)>/.exec(peekText(remainder, ...at) ?? '') ?? [];
  if (tag === undefined) return [];
  const text = takeText(remainder, ...at);
  const said =
    tag === 'state_snapshot'
      ? draft('compaction', { summary: text })
      : draft('context.message', { text, kind: 'session_context' });
  const envelope = {
    agent: 'gemini-cli' as const,
    record: takeText(remainder, ...message, 'id'),
    revision: place.position,
    occurredAt: takeText(remainder, ...message, 'timestamp'),
  };
  return compose({ record: {}, gaps: new Map(), wasEmpty: false }, place, envelope, [said]);
}
