import type { Agent, JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { type Draft, draft, type Reader } from '../shared/events.ts';
import { keyWithContent, toOrigin } from '../shared/identity.ts';
import { locate } from '../shared/locations.ts';
import { parser } from '../shared/parser.ts';
import { elementsAt, type Part, peekText, takeWords } from '../shared/part.ts';
import { context, event, fields, quiet, readersOf } from '../shared/readers.ts';

/**
 * Antigravity CLI writes a file per conversation and a step per line, append-only. Beside it is `transcript.jsonl` with the same
 * steps and shortened texts, and a database in a form that is not public. The steps name neither the folder nor the model, and
 * count no tokens. The result of a call is a later step that does not name the call.
 */
export const antigravityCli: Agent = {
  id: 'antigravity-cli',
  displayName: 'Antigravity CLI',
  programs: ['agy'],
  ...locate({ folder: '.gemini/antigravity-cli', roots: ['brain'], credentials: ['settings.json'] }),
  isTranscript: (path) => path.endsWith('.system_generated/logs/transcript_full.jsonl'),
  identify,
  recordKey,
  parse: parser({
    agent: 'antigravity-cli',
    readers: {
      USER_INPUT: readPrompt,
      PLANNER_RESPONSE: readAnswer,
      CHECKPOINT: event('compaction', { summary: 'content' }),
      SYSTEM_MESSAGE: context('system-message', 'content'),
      EPHEMERAL_MESSAGE: context('ephemeral-message', 'content'),
      ERROR_MESSAGE: event('error', { text: 'content' }, { kind: 'ERROR_MESSAGE' }),
      CONVERSATION_HISTORY: quiet('CONVERSATION_HISTORY'),
      ...readersOf(
        [
          'CODE_ACTION',
          'GENERIC',
          'GREP_SEARCH',
          'LIST_DIRECTORY',
          'READ_URL_CONTENT',
          'RUN_COMMAND',
          'SEARCH_WEB',
          'TOOL_RESPONSE',
          'VIEW_FILE',
        ],
        readResult,
      ),
    },
    envelope: { occurredAt: 'created_at' },
  }),
};

/** `<conversation>/.system_generated/logs/transcript_full.jsonl`. */
function identify({ path }: TranscriptFile): Origin {
  return toOrigin({ session: /([^/]+)\/\.system_generated\//.exec(path)?.[1] ?? path.replace(/\.jsonl$/, '') });
}

/** A step has a number in its conversation. */
function recordKey(record: JsonObject, { origin }: RecordPlace): string | undefined {
  const { step_index: step } = record;
  return Number.isInteger(step) ? keyWithContent(`${origin.session} ${step}`, record) : undefined;
}

const REQUEST = /^<USER_REQUEST>\n?([\s\S]*?)\n?<\/USER_REQUEST>/;

/** What the program put around the typed text stays in `rest` together with it. */
function readPrompt(part: Part): Draft[] {
  const content = peekText(part, 'content') ?? '';
  const typed = REQUEST.exec(content)?.[1];
  return [draft('user.message', { text: typed ?? takeWords(part, 'content') })];
}

const readCall = fields('tool.call', { callId: 'id', name: 'name', input: 'args' });

function readAnswer(part: Part): Draft[] {
  const thought = takeWords(part, 'thinking');
  const text = takeWords(part, 'content');
  return [
    ...(thought === undefined ? [] : [draft('assistant.reasoning', { text: thought })]),
    ...(text === undefined ? [] : [draft('assistant.message', { text })]),
    ...elementsAt(part, 'tool_calls').flatMap((call) => readCall(call)),
  ];
}

function readResult(kind: string): Reader {
  return event('tool.result', { output: 'content' }, { name: kind.toLowerCase() });
}
