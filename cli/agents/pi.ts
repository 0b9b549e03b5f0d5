import { join } from 'node:path';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject, RecordPlace, Variables } from './agent.ts';
import { compose, draft } from './compose.ts';
import { ENTRY_KINDS } from './pi/entry.ts';
import { readMessage } from './pi/message.ts';
import { identify } from './pi/origin.ts';
import { keyOf, type Reader } from './reader.ts';
import { remainderOf } from './remainder.ts';
import { peekText, takeSame, takeText } from './typed.ts';

/**
 * pi writes a file per session, an entry per line, append-only: a tree by `id` and `parentId`, whose branches all stay
 * in the file. A fork begins with a copy of its parent's entries. Nothing is said twice. The header's `version` is that
 * of the format; the program's own is nowhere.
 */
export const pi: Agent = {
  id: 'pi',
  displayName: 'pi',
  programs: ['pi'],
  variables: ['PI_CODING_AGENT_DIR', 'PI_CODING_AGENT_SESSION_DIR'],
  folder,
  credentials: (variables, home) => ['auth.json', 'models.json'].map((file) => join(folder(variables, home), file)),
  roots: (variables, home) => {
    const moved = variables.PI_CODING_AGENT_SESSION_DIR;
    const usual = join(folder(variables, home), 'sessions');
    return moved ? [moved, usual] : [usual];
  },
  isTranscript: (path) => path.endsWith('.jsonl'),
  identify,
  recordKey: (record) => keyOf(record, 'id'),
  parse,
};

function folder(variables: Variables, home: string): string {
  return variables.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent');
}

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([['message', readMessage], ...ENTRY_KINDS]);

function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  const type = peekText(remainder, 'type') ?? '';
  const drafts = READERS.get(type)?.(remainder, place) ?? [];
  if (drafts.length === 0) drafts.push(draft('record', { kind: type || undefined }));
  if (type === 'session') takeSame(remainder, place.origin.session, 'id');
  const envelope = {
    agent: pi.id,
    record: takeText(remainder, 'id'),
    parent: takeText(remainder, 'parentId'),
    occurredAt: takeText(remainder, 'timestamp'),
  };
  return compose(remainder, place, envelope, drafts);
}
