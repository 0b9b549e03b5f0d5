import type { Agent, JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { type Draft, draft, type Readers } from '../shared/events.ts';
import { headerOf, keyOf, stemOf, toOrigin, uuidAtEnd } from '../shared/identity.ts';
import { locate } from '../shared/locations.ts';
import { readContext, readInput, readResponse, textsAt } from '../shared/messages.ts';
import { parser } from '../shared/parser.ts';
import { type Part, peek, peekText, peekWords, takeSame, takeText } from '../shared/part.ts';
import { context, event, facts, notice, usage } from '../shared/readers.ts';
import { nameEntry } from '../shared/responses.ts';

/** What pi and the programs that descend from it have in common. */
type Sessions = Pick<Agent, 'isTranscript' | 'identify' | 'plainRecords' | 'recordKey' | 'restored' | 'parse'>;

/**
 * pi writes one file per session and one entry per line, append-only. Entries form a tree by `id` and `parentId`, and all
 * branches stay in the file. A fork begins with a copy of its parent's entries. Nothing is repeated. The header's `version`
 * is the version of the format. The program's own version is not stored.
 */
export const pi: Agent = {
  id: 'pi',
  displayName: 'pi',
  programs: ['pi'],
  ...locate({
    folder: '.pi/agent',
    movedBy: 'PI_CODING_AGENT_DIR',
    roots: ['sessions'],
    rootMovedBy: 'PI_CODING_AGENT_SESSION_DIR',
    credentials: ['auth.json', 'models.json'],
  }),
  ...sessionsOf('pi'),
};

/** Sessions in pi's format, with the records that a program has added to it. */
export function sessionsOf(agent: Agent['id'], added: Readers = {}): Sessions {
  return {
    isTranscript: (path) => path.endsWith('.jsonl'),
    identify,
    plainRecords: ['custom'],
    recordKey: (record) => keyOf(record, 'id'),
    restored: {
      stamp: (record, { origin }) =>
        record.type === 'session' && !('id' in record) ? { ...record, id: origin.session } : record,
      places: () => ['message.content', 'message.content.*.arguments'],
    },
    parse: parser({
      agent,
      kindOf: (part) => [peekText(part, 'type'), peekText(part, 'message.role')].filter(Boolean).join(' '),
      readers: {
        session: readHeader,
        session_info: facts({ title: 'name' }, 'person'),
        model_change: facts({ model: 'modelId' }),
        thinking_level_change: facts({}),
        compaction: withUsage('compaction', event('compaction', { summary: 'summary', tokensBefore: 'tokensBefore' })),
        branch_summary: withUsage('summary', context('branch_summary', 'summary')),
        usage: (part) => readUsage(part, idOf(part)),
        custom_message: (part) => readInjected(part, ''),
        label: notice('label', 'label'),
        'message user': (part) => readInput(part, 'message.content', () => undefined),
        'message assistant': readAssistant,
        'message toolResult': event('tool.result', {
          callId: 'message.toolCallId',
          name: 'message.toolName',
          output: 'message.content',
          isError: 'message.isError',
          detail: 'message.details',
        }),
        'message bashExecution': readShell,
        'message custom': (part) => readInjected(part, 'message.'),
        'message hookMessage': (part) => readInjected(part, 'message.'),
        ...added,
      },
      envelope: { record: 'id', parent: 'parentId', occurredAt: 'timestamp' },
      shared: { model: 'message.model', messageId: 'message.responseId' },
    }),
  };
}

/** The header names the session, and so does the file's name: `<time>_<session>.jsonl`. A parent is named by its file. */
export function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const header = headerOf(first, 'session');
  const parent = peekWords(header, 'parentSession', 'branchedFrom');
  return toOrigin({
    session: uuidAtEnd(stemOf(path)) ?? peekWords(header, 'id') ?? path.replace(/\.jsonl$/, ''),
    cwd: peekWords(header, 'cwd'),
    forkedFrom: parent && (uuidAtEnd(stemOf(parent)) ?? parent),
  });
}

/** A fork mostly names its parent by the path of the parent's file. That path stays in `rest`. */
export function readHeader(part: Part, { origin }: RecordPlace): Draft[] {
  takeSame(part, 'id', origin.session);
  const parent = peekText(part, 'parentSession');
  const isId = parent !== undefined && (uuidAtEnd(stemOf(parent)) ?? parent) === parent;
  const forkedFrom = isId ? takeText(part, 'parentSession') : undefined;
  return [draft('session.meta', { cwd: takeText(part, 'cwd'), forkedFrom })];
}

/** A command that the person ran, without the model. Its exit code stays in `rest`, because the model called no tool. */
function readShell(part: Part): Draft[] {
  const command = takeText(part, 'message.command');
  const output = takeText(part, 'message.output');
  const drafts = [draft('context.message', { text: command, kind: 'shell-command' })];
  if (output !== undefined) drafts.push(draft('context.message', { text: output, kind: 'shell-output' }));
  return drafts;
}

/** Text that an extension sent to the model. */
function readInjected(part: Part, prefix: string): Draft[] {
  const kind = peekText(part, `${prefix}customType`) ?? 'custom';
  const drafts = readContext(textsAt(part, `${prefix}content`), kind);
  return drafts.length > 0 ? drafts : [draft('context.message', { kind })];
}

/** Since 1.0, a summary and other work of the program have their own usage. */
const readUsage = usage(
  {
    model: 'model',
    purpose: 'kind',
    inputTokens: ['message.usage.input', 'usage.input'],
    outputTokens: ['message.usage.output', 'usage.output'],
    cacheReadTokens: ['message.usage.cacheRead', 'usage.cacheRead'],
    cacheWriteTokens: ['message.usage.cacheWrite', 'usage.cacheWrite'],
    cacheWrite1hTokens: ['message.usage.cacheWrite1h', 'usage.cacheWrite1h'],
    reasoningTokens: ['message.usage.reasoning', 'message.usage.reasoningTokens', 'usage.reasoning'],
    totalTokens: ['message.usage.totalTokens', 'usage.totalTokens'],
  },
  'excluded',
);

const idOf = (part: Part) => ({ responseId: nameEntry(part) });

function withUsage(purpose: string, read: (part: Part) => Draft[]) {
  return (part: Part): Draft[] => [...read(part), ...readUsage(part, { ...idOf(part), purpose })];
}

/** One API response. A failed one has an `errorMessage`. */
function readAssistant(part: Part): Draft[] {
  const drafts = readResponse(part, 'message.content');
  drafts.push(...readUsage(part, idOf(part)));
  const isAborted = peek(part, 'message.stopReason') === 'aborted';
  const error = isAborted ? undefined : takeText(part, 'message.errorMessage');
  if (isAborted) drafts.push(draft('turn.finished', { reason: takeText(part, 'message.stopReason') }));
  if (error !== undefined) drafts.push(draft('error', { text: error, kind: peekText(part, 'message.stopReason') }));
  return drafts;
}
