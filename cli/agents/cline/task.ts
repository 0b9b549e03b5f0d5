import { basename, dirname, join } from 'node:path';
import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import { parseExact } from '../../exact.ts';
import type { Agent, JsonObject, Origin, RecordPlace, TranscriptFile, Variables } from '../agent.ts';
import { recordsOf, toTimestamp, unfold } from '../shared/document.ts';
import { compose, type Draft, draft } from '../shared/events.ts';
import { headerOf, toOrigin } from '../shared/identity.ts';
import { isObject, type Part, partOf, peek, peekText, peekWords } from '../shared/part.ts';
import { event } from '../shared/readers.ts';
import { type DocumentSession, type DocumentStore, storeOf } from '../store.ts';
import { type Cached, kindOf, readShown } from './shown.ts';

/**
 * The older extension of Cline, Roo Code and the older Kilo Code keep a folder per task. Its documents are rewritten at
 * each change:
 * - `ui_messages.json`, the person's view: prompts, answers, tools, output of commands and, in `api_req_started`, tokens.
 *   Each has a time, and a compaction removes nothing. So the events of the session are made from it.
 * - `api_conversation_history.json`, the model's view: the same conversation with the tools' whole output (in older versions
 *   as XML within texts), without times, and shortened by a compaction. Each message is kept unchanged as one `record`, so
 *   that nothing is shown twice and nothing is lost.
 * - `task_metadata.json` and `history_item.json`, facts about the task. Their totals are not usage.
 *
 * Texts that are JSON are unfolded if that loses nothing. A message keeps its time when it is written again, so its time and
 * kind are its `source.record`. Output of a command may come several times in a millisecond, so it has none. Messages that a
 * checkpoint took back stay. A task that another task started is a session of its own.
 */
export const parserOfTasks =
  (agent: Agent['id'], cached: Cached) =>
  (record: JsonObject, place: RecordPlace): CapturedEvent[] => {
    const part = partOf(record);
    const time = peek(part, 'ts');
    const kind = kindOf(part);
    const drafts = kind === undefined ? readOther(part) : readShown(part, { kind, place, cached });
    const isNamed = kind !== undefined && kind !== 'command_output' && typeof time === 'number';
    const isItem = peek(part, 'tokensIn') !== undefined;
    const name = isNamed ? `${time} ${peekText(part, 'type')}:${kind}` : isItem ? 'history_item' : undefined;
    const envelope = { agent, record: name, revision: name && 0, occurredAt: toTimestamp(time) };
    return compose(part, place, envelope as { agent: Agent['id'] }, drafts);
  };

/** See `plainRecords` of an agent. */
export const PLAIN_TASK_RECORDS = [
  'api_req_started',
  'checkpoint_created',
  'completion_result',
  'environment_history',
  'files_in_context',
  'history:assistant',
  'history:user',
  'tool',
  'version',
];

/**
 * Editors that run extensions: VS Code and its remote server, and editors made from it. An extension has no process of its
 * own, so a task lasts as long as one of them runs.
 */
const EDITORS = [
  'code',
  'code-insiders',
  'code-server',
  'codium',
  'cursor',
  'electron',
  'kiro',
  'positron',
  'server-main',
  'trae',
  'vscodium',
  'windsurf',
];

/** An agent that has tasks from an older extension beside its present sessions. */
export function withTasks(program: Agent, extension: string, cached: Cached): Agent {
  const parseTask = parserOfTasks(program.id, cached);
  return {
    ...program,
    programs: [...(program.programs ?? []), ...EDITORS],
    variables: [...new Set([...(program.variables ?? []), ...TASK_VARIABLES])],
    roots: (variables, home) => [...program.roots(variables, home), ...taskFolders(extension, variables, home)],
    isTranscript: (path) => isTaskFile(path) || program.isTranscript(path),
    store: (path) => (isTaskFile(path) ? TASK_STORE : storeOf(program, path)),
    plainRecords: [...(program.plainRecords ?? []), ...PLAIN_TASK_RECORDS],
    // Task ids are times.
    hasLocalIds: true,
    identify: (file, first) => (isTaskFile(file.path) ? identifyTask : program.identify)(file, first),
    parse: (record, place) => (isTaskFile(place.file) ? parseTask : program.parse)(record, place),
  };
}

const readItem = event('session.meta', { title: ['title', 'task'], cwd: 'workspace' }, { titleBy: 'agent' });
const readModel = event('session.meta', { model: 'model_usage.model_id' });

/** The model's view, and facts. */
function readOther(part: Part): Draft[] {
  const role = peekText(part, 'role');
  if (role !== undefined) return [draft('record', { kind: `history:${role}` })];
  if (peek(part, 'tokensIn') !== undefined) return readItem(part);
  if (peek(part, 'model_usage') !== undefined) return readModel(part);
  const [kind] = Object.keys(part.value as JsonObject);
  return [draft('record', { kind: FACTS.has(kind ?? '') ? kind : undefined })];
}

const FACTS = new Set(['environment_history', 'files_in_context', 'version']);

/** The first versions called the history `claude_messages.json`. */
const TASK_FILE = /(^|\/)(ui_messages|api_conversation_history|claude_messages|task_metadata|history_item)\.json$/;

export const isTaskFile = (path: string): boolean => TASK_FILE.test(path);

/** A task's folder is named after the task. */
export const identifyTask = ({ root, path }: TranscriptFile, first: JsonObject | undefined): Origin =>
  toOrigin({ session: basename(dirname(join(root, path))), cwd: peekWords(headerOf(first), 'workspace') });

export const TASK_STORE: DocumentStore = {
  kind: 'document',
  split: (text) => splitTask(parseExact(text)),
  isUnsettled,
};

/** The records of one of a task's documents. Throws if it is not such a document. */
function splitTask(document: unknown): DocumentSession[] {
  if (Array.isArray(document)) return [splitList(recordsOf(document))];
  if (!isObject(document)) throw new Error('it is not the document of a task');
  // Newer versions of Roo Code put the history into an envelope.
  const { messages, ...envelope } = document;
  if (Array.isArray(messages)) {
    const { folder, records } = splitList(recordsOf(messages));
    return [{ name: '', records: [...records, envelope], folder }];
  }
  const lists = Object.entries(document);
  if (!lists.every(([, list]) => Array.isArray(list))) return [{ name: '', records: [document] }];
  return [{ name: '', records: lists.flatMap(([name, list]) => splitFacts(name, list as unknown[])) }];
}

/** New facts about a task are captured. Known ones are not captured again. */
const splitFacts = (name: string, list: unknown[]): JsonObject[] =>
  list.length === 0 ? [{ [name]: list }] : list.map((fact) => ({ [name]: fact }));

function splitList(messages: JsonObject[]): DocumentSession {
  const records = messages.map((message) => {
    if (typeof message.text !== 'string' || typeof message.type !== 'string') return message;
    return { ...message, text: unfold(message.text) };
  });
  const folders = messages.values().map(folderIn);
  return { name: '', records, folder: folders.find((folder) => folder !== undefined) };
}

/** The context for the model names the folder. Its wrapping depends on the version. */
function folderIn({ text, content }: JsonObject): string | undefined {
  const texts = typeof text === 'string' ? [text] : JSON.stringify(content ?? '').slice(0, 1_000_000);
  const found = /Current (?:Working|Workspace) Directory \(((?:[^()"\\]|\\\\)+)\)/.exec(String(texts))?.[1];
  // JSON escapes a backslash as two.
  return found?.replaceAll('\\\\', '\\');
}

/** A message that is still being written is marked as such. A request has no cost until it is answered. */
function isUnsettled({ partial, say, text, tokensIn }: JsonObject): boolean {
  if (partial === true || tokensIn !== undefined) return true;
  return say === 'api_req_started' && isObject(text) && text.cost === undefined && text.cancelReason === undefined;
}

/** The variables that move the folders below. */
export const TASK_VARIABLES = ['VSCODE_PORTABLE', 'XDG_CONFIG_HOME'];

/** Where an extension of VS Code and its relatives keeps its tasks, for every program and system. */
export function taskFolders(extension: string, variables: Variables, home: string): string[] {
  const bases = [
    variables.XDG_CONFIG_HOME || join(home, '.config'),
    join(home, 'Library', 'Application Support'),
    variables.APPDATA || join(home, 'AppData', 'Roaming'),
  ];
  const users = [
    ...bases.flatMap((base) => PROGRAMS.map((program) => join(base, program, 'User'))),
    ...SERVERS.map((server) => join(home, server, 'data', 'User')),
    join(home, '.local', 'share', 'code-server', 'User'),
    ...(variables.VSCODE_PORTABLE ? [join(variables.VSCODE_PORTABLE, 'user-data', 'User')] : []),
  ];
  return users.map((user) => join(user, 'globalStorage', extension, 'tasks'));
}

const PROGRAMS = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf'];

/** The servers on a machine that people work on from another one. */
const SERVERS = ['.vscode-server', '.vscode-server-insiders', '.vscodium-server', '.cursor-server', '.windsurf-server'];
