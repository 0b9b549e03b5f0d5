import type { RecordPlace } from '../agent.ts';
import { type Draft, draft, type Readers, readerOf } from '../shared/events.ts';
import { readContext, readResponse, readTyped, textsAt } from '../shared/messages.ts';
import { parser } from '../shared/parser.ts';
import { at, elementsAt, type Part, peek, peekText, takeText, takeWords } from '../shared/part.ts';
import { event, eventOfKind, facts, notice, readersOf, usage } from '../shared/readers.ts';
import { nameFurther, nameMessage } from '../shared/responses.ts';
import { injectedKind, readUser } from './user.ts';

const PROGRESS = ['output', 'taskDescription', 'query', 'command', 'toolName'].map((key) => `data.${key}`);

const READERS: Readers = {
  user: readUser,
  assistant: readAssistant,
  system: readSystem,
  attachment: readAttachment,
  // Versions 2.1.12 to 2.1.63 stored the messages that tools and hooks showed while they ran.
  progress: eventOfKind('notice', PROGRESS, ['data.type'], 'progress'),
  'custom-title': facts({ title: 'customTitle' }, 'person'),
  'ai-title': facts({ title: 'aiTitle' }, 'agent'),
  ...readersOf(['agent-name', 'mode', 'permission-mode', 'last-prompt', 'bridge-session'], () => facts({})),
  'pr-link': facts({ repository: 'prRepository' }),
  'worktree-state': facts({ cwd: 'worktreeSession.worktreePath', branch: 'worktreeSession.worktreeBranch' }),
  relocated: facts({ cwd: 'relocatedCwd' }),
  // Titles of other sessions of the project. `leafUuid` points into their files, so it must not title this one.
  summary: notice('summary', 'summary'),
  'queue-operation': notice('queue-operation', 'content'),
  'frame-link': notice('frame-link', 'title'),
  // The journal of a workflow.
  started: event('subagent.started', { subagent: 'agentId' }),
  result: event('subagent.finished', { subagent: 'agentId', result: 'result' }),
};

/** The fields around each record. Agents modelled on this one use them, too. */
export const CHAINED = {
  readAlso: readRoot,
  envelope: {
    agentVersion: 'version',
    record: 'uuid',
    parent: 'parentUuid',
    occurredAt: ['timestamp', 'snapshot.timestamp'],
  },
  origin: { sessionId: 'session', agentId: 'subagent' },
} as const;

export const parse = parser({
  ...CHAINED,
  agent: 'claude-code',
  readers: READERS,
  shared: { model: 'message.model', messageId: 'message.id', responseId: 'message.id' },
});

const COUNTS = {
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  cacheReadTokens: 'cache_read_input_tokens',
  cacheWriteTokens: 'cache_creation_input_tokens',
  cacheWrite1hTokens: 'cache_creation.ephemeral_1h_input_tokens',
  reasoningTokens: 'output_tokens_details.thinking_tokens',
};

const readCounts = usage(
  {
    ...COUNTS,
    webSearches: 'server_tool_use.web_search_requests',
    speed: 'speed',
    tier: 'service_tier',
    region: 'inference_geo',
  },
  'excluded',
);

/** An API response, or the part of it in one content block. */
function readAssistant(part: Part, place: RecordPlace): Draft[] {
  if (peek(part, 'isApiErrorMessage') === true) return readApiError(part);
  const responseId = nameMessage(part, place);
  return [
    ...readResponse(part, 'message.content'),
    ...readCounts(at(part, 'message.usage'), { responseId }),
    ...readFurther(part, responseId),
  ];
}

/** Iterations that the usage of their response excludes. It includes all others. */
const PURPOSES: { readonly [type: string]: string } = { advisor_message: 'advisor', compaction: 'compaction' };

const readIteration = usage({ ...COUNTS, model: 'model' }, 'excluded');

/** The responses of an advisor, which has a model of its own, and those that made a summary. */
function readFurther(part: Part, response: string | undefined): Draft[] {
  const purposeOf = (iteration: Part) => readerOf(PURPOSES, peekText(iteration, 'type') ?? '');
  return elementsAt(part, 'message.usage.iterations')
    .filter((iteration) => purposeOf(iteration) !== undefined)
    .flatMap((iteration, index) => {
      const purpose = purposeOf(iteration) ?? '';
      const model = peekText(part, 'message.model');
      return readIteration(iteration, { purpose, model, responseId: nameFurther(response, purpose, index) });
    });
}

/** The program's own message in place of a missing response. Its usage is all zeros and stays in `rest`. */
const readApiError = eventOfKind('error', ['message.content.0.text', 'message.content'], ['error'], 'api_error');

/** Actions of the program, or messages to the person, by `subtype`. Versions before 2.0 have none. */
function readSystem(part: Part, place: RecordPlace): Draft[] {
  const kind = peekText(part, 'subtype') ?? 'system';
  const read = readerOf(SYSTEM_READERS, kind) ?? event('notice', { text: 'content', level: 'level' }, { kind });
  return read(part, place);
}

const ERRORS = ['formatted', 'message', 'error.error.message', 'error.message'].map((key) => `error.${key}`);

const SYSTEM_READERS: Readers = {
  // The summary itself is in the following user record.
  compact_boundary: event('compaction', {
    trigger: 'compactMetadata.trigger',
    tokensBefore: 'compactMetadata.preTokens',
  }),
  turn_duration: event('turn.finished', { durationMs: 'durationMs' }),
  ...readersOf(['api_error', 'api_refusal', 'error'], (kind) =>
    event('error', { text: [...ERRORS, 'error', 'content'] }, { kind }),
  ),
};

/** Context that was sent to the model besides the prompt, and the output of hooks. */
function readAttachment(part: Part, place: RecordPlace): Draft[] {
  const kind = peekText(part, 'attachment.type') ?? 'attachment';
  if (kind === 'queued_command') return readQueued(part, place);
  if (kind.startsWith('hook_') && kind !== 'hook_additional_context') {
    return [draft('notice', { text: takeWords(part, ...HOOK_TEXTS), kind })];
  }
  // Newer versions keep the text that was sent to the model. In others, it is in parts of the attachment.
  const rendered = elementsAt(part, 'rendered').map((element) => at(element, 'content'));
  const texts = [...rendered, ...elementsAt(part, 'attachment.content')].filter((text) => peekText(text) !== undefined);
  return texts.length > 0
    ? readContext(texts, kind)
    : [draft('context.message', { text: takeText(part, ...TEXTS), kind })];
}

/** Where attachments keep their text, in order of preference. */
const TEXTS = ['content', 'content.content', 'content.file.content', 'snippet', 'text', 'banner', 'stdout'].map(
  (key) => `attachment.${key}`,
);

/** Hooks mostly write '' into fields that they do not use. */
const HOOK_TEXTS = ['content', 'blockingError.blockingError', 'blockingError', 'stderr', 'stdout'].map(
  (key) => `attachment.${key}`,
);

/** A prompt that was typed, or arrived, while the agent was working. No user record contains it. */
function readQueued(part: Part, place: RecordPlace): Draft[] {
  const mode = peekText(part, 'attachment.commandMode');
  const drafts = textsAt(part, 'attachment.prompt').map((text) =>
    readTyped(text, injectedKind(part, place, peekText(text) ?? '') ?? injectedMode(part, mode)),
  );
  return drafts.length > 0 ? drafts : [draft('context.message', { kind: mode ?? 'queued_command' })];
}

function injectedMode(part: Part, mode: string | undefined): string | undefined {
  if (peek(part, 'attachment.isMeta') === true) return 'meta';
  const origin = peekText(part, 'attachment.origin.kind');
  if (origin !== undefined && origin !== 'human') return origin;
  return mode === 'prompt' ? undefined : (mode ?? 'queued_command');
}

/** The first record of a chain also names the working folder. Later records repeat it and are ignored. */
function readRoot(part: Part, place: RecordPlace): Draft[] {
  if (peek(part, 'parentUuid') !== null) return [];
  // Up to 1.0, a sub-agent's chain was in the session's own file.
  if (peek(part, 'isSidechain') === true && place.origin.subagent === undefined) return [];
  const cwd = takeText(part, 'cwd');
  const branch = takeWords(part, 'gitBranch');
  const forkedFrom = takeText(part, 'forkedFrom.sessionId', 'forkedFrom');
  const isSaid = [cwd, branch, forkedFrom].some((fact) => fact !== undefined);
  return isSaid ? [draft('session.meta', { cwd, branch, forkedFrom })] : [];
}
