import { join } from 'node:path';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject, RecordPlace, Variables } from './agent.ts';
import { compose, draft } from './compose.ts';
import { readMessage } from './droid/message.ts';
import { identify } from './droid/origin.ts';
import { SESSION_KINDS } from './droid/session.ts';
import { keyOf, type Reader } from './reader.ts';
import { remainderOf } from './remainder.ts';
import { peekText, takeSame, takeText } from './typed.ts';

/**
 * Droid writes a file per session, a record per line, append-only; messages are those of the Messages API, chained by
 * `id` and `parentId`. A sub-agent has a file of its own, whose first record names the session and the call that started
 * it. Nothing is said twice. Tokens are counted only for the whole session, in `<session>.settings.json`, which is one
 * document that is rewritten: not a transcript.
 */
export const droid: Agent = {
  id: 'droid',
  displayName: 'Droid',
  programs: ['droid'],
  variables: ['FACTORY_HOME_OVERRIDE'],
  folder,
  credentials: (variables, home) => [join(folder(variables, home), 'auth.json')],
  roots: (variables, home) => ['sessions', 'projects'].map((sessions) => join(folder(variables, home), sessions)),
  isTranscript: (path) => path.endsWith('.jsonl'),
  identify,
  recordKey: (record) => keyOf(record, 'id'),
  parse,
};

/** The variable replaces the home folder. */
function folder(variables: Variables, home: string): string {
  return join(variables.FACTORY_HOME_OVERRIDE || home, '.factory');
}

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([['message', readMessage], ...SESSION_KINDS]);

function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  const type = peekText(remainder, 'type') ?? '';
  const drafts = READERS.get(type)?.(remainder, place) ?? [];
  if (drafts.length === 0) drafts.push(draft('record', { kind: type || undefined }));
  if (type === 'session_start') takeSame(remainder, place.origin.session, 'id');
  const envelope = {
    agent: droid.id,
    record: takeText(remainder, 'id'),
    parent: takeText(remainder, 'parentId'),
    occurredAt: takeText(remainder, 'timestamp'),
  };
  return compose(remainder, place, envelope, drafts);
}
