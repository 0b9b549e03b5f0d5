import { join, resolve } from 'node:path';
import type { Agent, JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { identify as identifyPi, readHeader as readPiHeader, sessionsOf } from '../pi/pi.ts';
import { type Draft, draft, type Readers } from '../shared/events.ts';
import { keyOf, keyWithContent, stemOf, toOrigin, uuidAtEnd } from '../shared/identity.ts';
import { locate } from '../shared/locations.ts';
import { readContext, readInput, textsAt } from '../shared/messages.ts';
import { elementsAt, type Part, peekText, peekWords, takeText } from '../shared/part.ts';
import { facts, notice, quiet, usage } from '../shared/readers.ts';

const places = locate({ folder: '.omp/agent', roots: ['sessions'], credentials: ['auth.json', 'models.yml'] });

const ADDED: Readers = {
  title: readTitle,
  title_change: readTitle,
  session: readHeader,
  model_change: readModel,
  model_usage: readSideCall,
  mode_change: facts({}),
  service_tier_change: facts({}),
  session_init: readInstructions,
  reset_boundary: notice('clear'),
  archive: notice('archive'),
  ttsr_injection: quiet('ttsr_injection'),
  credential_pin: quiet('credential_pin'),
  custom: (part) => [draft('record', { kind: peekText(part, 'customType') ?? 'custom' })],
  'message user': readUser,
  'message developer': (part) => readContext(textsAt(part, 'message.content'), 'developer'),
  'message pythonExecution': readPython,
  'message fileMention': readFiles,
};

const sessions = sessionsOf('oh-my-pi', ADDED);

/**
 * oh-my-pi writes pi's format with further entries. The first line is a title of fixed width that is written over in place. A
 * sub-agent has a file in a folder that is named after its parent's file. The program also follows pi's variable
 * `PI_CODING_AGENT_DIR`. Since a file does not say which of the two wrote it, that folder is pi's.
 */
export const ohMyPi: Agent = {
  id: 'oh-my-pi',
  displayName: 'oh-my-pi',
  extends: 'pi',
  programs: ['omp'],
  ...places,
  variables: ['PI_CONFIG_DIR', 'XDG_DATA_HOME'],
  roots: ({ PI_CONFIG_DIR: folder, XDG_DATA_HOME: data }, home) => [
    join(resolve(home, folder || '.omp'), 'agent', 'sessions'),
    join(resolve(home, folder || '.omp'), 'profiles'),
    ...(data ? [join(data, 'omp', 'sessions')] : []),
  ],
  ...sessions,
  restored: {
    ...sessions.restored,
    places: () => ['message.content', 'message.content.*.arguments', 'message.usage.reasoningTokens'],
  },
  // A profile has other files beside its sessions.
  isTranscript: (path) => path.endsWith('.jsonl') && !/^[^/]+\/agent\/(?!sessions\/)/.test(path),
  namesSession: ({ type }) => type === 'session',
  identify,
  endsSession: ({ type, customType }) => type === 'custom' && customType === 'session_exit',
  recordKey: (record) => (record.type === 'title' ? keyWithContent('title', record) : keyOf(record, 'id')),
};

/** The session of `<project>/<time>_<session>.jsonl`, and of `<project>/<time>_<session>/<name>.jsonl`. */
const sessionIn = (path: string): string | undefined =>
  path
    .split('/')
    .map((name) => uuidAtEnd(stemOf(name)))
    .find((id) => id !== undefined);

/**
 * A sub-agent has the name of its file, which is unique in its session. The header has another id. But the title is written
 * first, so a reader may see a file without its header.
 */
function identify(file: TranscriptFile, first: JsonObject | undefined): Origin {
  const origin = identifyPi(file, first);
  const session = sessionIn(file.path);
  if (session === undefined || uuidAtEnd(stemOf(file.path)) !== undefined) return origin;
  return toOrigin({ session, subagent: stemOf(file.path), cwd: origin.cwd });
}

/** An empty title says that there is none yet. */
function readTitle(part: Part): Draft[] {
  const source = peekText(part, 'source');
  if (peekWords(part, 'title') === undefined) return [draft('record', { kind: 'title' })];
  return [draft('session.meta', { title: takeText(part, 'title'), titleBy: source === 'user' ? 'person' : 'agent' })];
}

/** The title in the header is the first one, which the agent invents. */
function readHeader(part: Part, place: RecordPlace): Draft[] {
  const title = peekWords(part, 'title') === undefined ? undefined : takeText(part, 'title');
  const titled = title === undefined ? {} : { title, titleBy: 'agent' };
  return readPiHeader(part, place).map(({ eventType, fields }) => ({ eventType, fields: { ...titled, ...fields } }));
}

/** A role other than `default` is a model for a side task. */
function readModel(part: Part): Draft[] {
  const role = peekText(part, 'role') ?? 'default';
  return role === 'default' ? readSessionModel(part) : [draft('record', { kind: 'model_change' })];
}

const readSessionModel = facts({ model: 'model' });

/** A call of a model outside the conversation, such as for a title. */
function readSideCall(part: Part): Draft[] {
  return readSideUsage(part, { responseId: peekText(part, 'id') });
}

const readSideUsage = usage(
  {
    model: 'model',
    inputTokens: 'usage.input',
    outputTokens: 'usage.output',
    cacheReadTokens: 'usage.cacheRead',
    cacheWriteTokens: 'usage.cacheWrite',
    reasoningTokens: 'usage.reasoningTokens',
    totalTokens: 'usage.totalTokens',
  },
  'excluded',
);

/** The instructions of a sub-agent. Its task follows as a message, too. */
function readInstructions(part: Part): Draft[] {
  const system = readContext(textsAt(part, 'systemPrompt'), 'system-prompt');
  return [...system, ...readContext(textsAt(part, 'task'), 'subagent-task')];
}

/** A message in the person's role may be from the program, or from the agent that started this one. */
function readUser(part: Part, { origin: { subagent } }: RecordPlace): Draft[] {
  const fromAgent = peekText(part, 'message.attribution') === 'agent' ? 'agent' : undefined;
  const kind = subagent === undefined ? fromAgent : 'subagent-prompt';
  return readInput(part, 'message.content', () => kind);
}

/** Code that the person ran, without the model. */
function readPython(part: Part): Draft[] {
  const code = readContext(textsAt(part, 'message.code'), 'python-code');
  return [...code, ...readContext(textsAt(part, 'message.output'), 'python-output')];
}

/** Files that the person mentioned. Their paths stay in `rest`. */
function readFiles(part: Part): Draft[] {
  return elementsAt(part, 'message.files').flatMap((file) => readContext(textsAt(file, 'content'), 'attached'));
}
