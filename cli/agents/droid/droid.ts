import type { Agent, JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { type Draft, draft } from '../shared/events.ts';
import { headerOf, isUuid, keyOf, stemOf, toOrigin } from '../shared/identity.ts';
import { locate } from '../shared/locations.ts';
import { readInput, readResponse } from '../shared/messages.ts';
import { parser } from '../shared/parser.ts';
import { type Part, peekText, peekWords, takeSame, takeText } from '../shared/part.ts';
import { event, facts, fields } from '../shared/readers.ts';

/**
 * Droid writes one file per session and one record per line, append-only. Messages follow the Messages API, chained by `id`
 * and `parentId`. A sub-agent has a file of its own, whose first record names the session and the call that started it.
 * Nothing is repeated. Tokens are counted only for the whole session, in `<session>.settings.json`. That is one document that
 * is rewritten, so it is not a transcript.
 */
export const droid: Agent = {
  id: 'droid',
  displayName: 'Droid',
  programs: ['droid'],
  ...locate({
    folder: '.factory',
    movedBy: 'FACTORY_HOME_OVERRIDE',
    movesHome: true,
    roots: ['sessions', 'projects'],
    credentials: ['auth.json'],
  }),
  isTranscript: (path) => path.endsWith('.jsonl'),
  identify,
  plainRecords: ['todo_state'],
  recordKey: (record) => keyOf(record, 'id'),
  restored: {
    stamp: (record, { origin }) =>
      record.type === 'session_start' && !('id' in record) && origin.subagent === undefined
        ? { ...record, id: origin.session }
        : record,
    places: ({ callingSessionId }) => (callingSessionId === undefined ? [] : ['title']),
  },
  parse: parser({
    agent: 'droid',
    readers: {
      message: readMessage,
      session_start: readStart,
      session_settings: facts({ model: 'model' }),
      compaction_state: event('compaction', { summary: ['summaryText', 'summary'], tokensBefore: 'tokensBefore' }),
      agent_turn_outcome: event('turn.finished', { reason: 'reason' }),
    },
    envelope: { record: 'id', parent: 'parentId', occurredAt: 'timestamp' },
    shared: { model: 'message.model' },
  }),
};

/** `<project>/<session>.jsonl`. */
function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const start = headerOf(first, 'session_start');
  const stem = stemOf(path);
  const own = isUuid(stem) ? stem : (peekWords(start, 'id') ?? stem);
  const caller = peekWords(start, 'callingSessionId');
  const isSubagent = caller !== undefined && caller !== own;
  const version = peekWords(start, 'version');
  return toOrigin({
    session: isSubagent ? caller : own,
    subagent: isSubagent ? own : undefined,
    // A plain number is the version of the format.
    agentVersion: version?.includes('.') ? version : undefined,
    cwd: peekWords(start, 'cwd'),
  });
}

const readSubagent = fields('subagent.started', { subagent: 'id', callId: 'callingToolUseId' });

/** The title of a sub-agent is its own prompt, not the session's title. */
function readStart(part: Part, { origin }: RecordPlace): Draft[] {
  const title = takeText(part, 'sessionTitle', 'title');
  const cwd = takeText(part, 'cwd');
  const started = origin.subagent === undefined ? [] : readSubagent(part, { description: title });
  takeSame(part, 'id', origin.session);
  if (started.length === 0) {
    return [draft('session.meta', { title, titleBy: title === undefined ? undefined : 'agent', cwd })];
  }
  return cwd === undefined ? started : [...started, draft('session.meta', { cwd })];
}

const CONTENT = 'message.content';

function readMessage(part: Part, place: RecordPlace): Draft[] {
  const role = peekText(part, 'message.role');
  return role === 'assistant'
    ? readResponse(part, CONTENT)
    : readInput(part, CONTENT, (text) => injectedKind(part, place, text, role));
}

/** Why a text is not a prompt. `undefined` if a person typed it. */
function injectedKind(part: Part, place: RecordPlace, text: string, role = ''): string | undefined {
  if (role !== 'user') return role || 'message';
  if (peekText(part, 'message.visibility') === 'llm_only') return 'llm_only';
  if (isReminder(text)) return 'system-reminder';
  return place.origin.subagent === undefined ? undefined : 'subagent-prompt';
}

/** Whether a text is only a reminder. A prompt may follow a reminder in the same text, and stays whole with it. */
function isReminder(text: string): boolean {
  if (!text.trimStart().startsWith('<system-reminder>')) return false;
  const end = '</system-reminder>';
  const last = text.lastIndexOf(end);
  return last < 0 || text.slice(last + end.length).trim() === '';
}
