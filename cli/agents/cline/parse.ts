import { basename } from 'node:path/posix';
import type { CapturedEvent } from '../../../contract/transcript.ts';
import type { JsonObject, RecordPlace } from '../agent.ts';
import { compose, type Draft, draft } from '../compose.ts';
import { toTimestamp } from '../document.ts';
import { facts } from '../reader.ts';
import { peek, type Remainder, remainderOf } from '../remainder.ts';
import { peekText, takeSame, takeText } from '../typed.ts';
import { readMessage } from './message.ts';

/** Whose documents they are, and how it counts tokens that came from the cache. */
export interface Dialect {
  agent: 'cline' | 'roo-code' | 'kilo';
  cached: 'excluded' | 'included';
}

type Kind = [record: string | undefined, drafts: Draft[], occurredAt?: string | undefined];

/** The events of a record of the command line's documents. */
export function parseSession({ agent }: Dialect, record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  const [name, drafts, occurredAt] = readKind(remainder, place);
  if (drafts.length === 0) drafts.push(draft('record', { kind: peekText(remainder, 'role') }));
  const envelope = { agent, record: name, revision: name === undefined ? undefined : 0, occurredAt };
  return compose(remainder, place, envelope, drafts);
}

function readKind(remainder: Remainder, place: RecordPlace): Kind {
  const file = basename(place.file);
  if (peekText(remainder, 'role') !== undefined) {
    const occurredAt = toTimestamp(peek(remainder, 'ts'));
    const drafts = readMessage(remainder);
    return [takeText(remainder, 'id'), drafts, occurredAt];
  }
  if (peekText(remainder, 'session_id') !== undefined) return [`${file} facts`, readFacts(remainder, place)];
  if (peek(remainder, 'status') !== undefined || peek(remainder, 'ended_at') !== undefined) {
    const drafts = facts({ title: ['metadata', 'title'] }, 'agent')(remainder, place);
    return [`${file} state`, drafts, takeText(remainder, 'ended_at')];
  }
  const updatedAt = takeText(remainder, 'updated_at');
  if (updatedAt !== undefined) return [`${file} updated_at`, [draft('session.meta', {})], updatedAt];
  return peek(remainder, 'version') === undefined ? [undefined, []] : [`${file} header`, readHeader(remainder, place)];
}

/** The first prompt stands in the messages too, so here it stays in `rest`. */
function readFacts(remainder: Remainder, place: RecordPlace): Draft[] {
  takeSame(remainder, place.origin.session, 'session_id');
  const places = {
    cwd: ['cwd'],
    branch: ['metadata', 'git', 'branch'],
    model: ['model'],
    forkedFrom: ['metadata', 'fork', 'forkedFromSessionId'],
  };
  return facts(places)(remainder, place);
}

function readHeader(remainder: Remainder, { origin }: RecordPlace): Draft[] {
  takeSame(remainder, origin.session, 'sessionId');
  const text = takeText(remainder, 'system_prompt');
  return text === undefined ? [draft('session.meta', {})] : [draft('context.message', { text, kind: 'system-prompt' })];
}
