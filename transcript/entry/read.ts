import type { SessionEvent } from '../../contract/event.ts';
import { hasHost } from '../../contract/repository.ts';
import { isPart, type Part } from '../parts.ts';
import { writingOf } from '../revision.ts';
import { addOnOfCall, addOnOfCommand, listedAddOns } from './add-on.ts';
import { changesOfCall, changesOfResult, statOf } from './changes.ts';
import { commandOf, outcomeOf, purposesOfAll, subjectsOf } from './command.ts';
import type { Entry, QuietEntry } from './entry.ts';
import { readOutput, resultText, runningOf } from './output.ts';
import { readEcho, readProgress } from './progress.ts';
import { callsOf } from './script.ts';
import { readTold } from './told.ts';
import { aboutCall, aboutCalls } from './tool.ts';
import { readUsage } from './usage.ts';
import { asNumber, asObject, asParsedObject, asText, clip, firstLine, type Loose } from './value.ts';

const MAX_TEXT = 24_000;
const MAX_PREVIEW = 1_500;
const MAX_COMMAND = 300;

/** An event in the timeline's form: small, and of a known shape for any payload. Never throws. */
export function readEvent(event: Pick<SessionEvent, 'sequence' | 'eventType' | 'payload' | 'createdAt'>): Entry {
  const payload = asObject(event.payload);
  if (isPart(payload)) return readPart(readCommon(event, payload), payload);
  const carried = readProgress(event.eventType, payload);
  if (!carried) return readTyped(readCommon(event, payload), payload);
  const common = readCommon({ ...event, eventType: carried.eventType }, carried.payload);
  return { ...readTyped(common, carried.payload), echo: readEcho(payload) };
}

/** The entry of a payload that was sent in `span` parts; `first` is the entry of the first part. */
export function readJoined(first: Entry, payload: unknown, span: number): Entry {
  const { sequence, eventType, time } = first;
  const createdAt = new Date(time).toISOString();
  const entry = readEvent({ sequence, eventType, createdAt, payload: asObject(payload) as SessionEvent['payload'] });
  return { ...entry, span };
}

type Common = Pick<
  Entry,
  'sequence' | 'span' | 'eventType' | 'time' | 'timed' | 'lane' | 'chain' | 'told' | 'redactions' | 'writing'
>;

function readCommon(event: Pick<SessionEvent, 'sequence' | 'eventType' | 'createdAt'>, payload: Loose): Common {
  const occurred = Date.parse(asText(payload.occurredAt) ?? '');
  const timed = !Number.isNaN(occurred);
  const writing = writingOf(payload.source);
  const lane = asText(asObject(payload.source).subagent);
  const redactions = Object.values(asObject(payload.redactions)).reduce<number>(
    (sum, n) => sum + (asNumber(n) ?? 0),
    0,
  );
  return {
    sequence: event.sequence,
    span: 1,
    eventType: event.eventType,
    time: timed ? occurred : Date.parse(event.createdAt) || 0,
    timed,
    ...(lane ? { lane } : readChain(payload)),
    ...readTold(event.eventType, payload),
    ...(redactions > 0 && { redactions }),
    ...(writing && { writing }),
  };
}

/**
 * Finds the record in its chain. Later events of a record do not repeat that it belongs to a sub-agent, so all events of the
 * versions in question report their record.
 */
function readChain({ source, rest }: Loose): Pick<Common, 'chain'> {
  const { agent, agentVersion, record: id, parent, index } = asObject(source);
  const record = asText(id);
  const isSide = asObject(rest).isSidechain === true;
  const mayFollow = agent === 'claude-code' && /^[01]\./.test(asText(agentVersion) ?? '') && asNumber(index) !== 0;
  if (!record || !(isSide || (mayFollow && index !== undefined))) return {};
  return { chain: { record, ...given('parent', parent), ...(isSide && { isSide }) } };
}

function readPart(common: Common, payload: unknown): Entry {
  const { part, of, json, source } = payload as Part;
  const { file, position, index } = asObject(source);
  const valid = asNumber(part) !== undefined && asNumber(of) !== undefined && typeof json === 'string';
  if (!valid) return readQuiet(common, asObject(payload));
  return { ...common, kind: 'part', part, of, json, identity: [common.eventType, file, position, index].join(' ') };
}

function readTyped(common: Common, payload: Loose): Entry {
  const { eventType } = common;
  const reader = Object.hasOwn(READERS, eventType) ? READERS[eventType] : undefined;
  return (reader ?? readQuiet)(common, payload);
}

/** Codex 0.144 and later gives the parent a sub-agent's result in this form. */
const FINAL_ANSWER = /^Message Type: FINAL_ANSWER\n(?:Task name: [^\n]*\n)?Sender: (\S+)\nPayload:\n?/;

type Reader = (common: Common, payload: Loose) => Entry;

const READERS: Record<string, Reader> = {
  'user.message': (common, payload) => readPrompt(common, payload.text, asNumber(payload.images) ?? 0),
  'context.message': (common, payload) => {
    const text = asText(payload.text) ?? '';
    const typed = typedCommand(text);
    if (typed !== undefined) {
      const addOn = addOnOfCommand(typed);
      return { ...readPrompt(common, typed, 0), ...(addOn && { addOn }) };
    }
    const sent = payload.kind === 'agent_message' ? FINAL_ANSWER.exec(text) : null;
    if (sent) {
      const [header, sender] = sent;
      return { ...common, ...readText(text.slice(header.length)), ...given('sender', sender), kind: 'answer' };
    }
    const quiet = readQuiet(common, payload);
    if (payload.kind === 'subagent-prompt') return { ...quiet, ...given('brief', briefOf(text)) };
    return payload.kind === 'compact-summary' ? { ...quiet, summaryLength: text.length } : quiet;
  },
  'assistant.message': readAnswer('answer'),
  'assistant.reasoning': readAnswer('reasoning'),
  'tool.call': (common, payload) => {
    const name = asText(payload.name) ?? 'tool';
    const calls = callsOf(name, payload.input);
    const isScript = calls[0]?.input !== payload.input;
    const commands = calls.flatMap(({ input }) => commandOf(input) ?? []);
    const addOn = calls.map((call) => addOnOfCall(call.name, call.input, payload.rest)).find(Boolean);
    const purposes = purposesOfAll(commands);
    const subjects = purposes.includes('commit') ? commands.flatMap(subjectsOf) : [];
    const continues = calls.map((call) => runningOf(call.name, call.input)).find(Boolean);
    return {
      ...common,
      ...given('callId', payload.callId),
      kind: 'call',
      name,
      about: isScript ? aboutCalls(calls) : aboutCall(payload.input),
      ...(addOn && { addOn }),
      ...given('command', inOneLine(commands.join('; '))),
      ...given('continues', continues),
      ...given('brief', briefOfCall(payload.input)),
      ...(purposes.length > 0 && { purposes }),
      ...(subjects.length > 0 && { subjects }),
      changes: changesOfCall(name, payload.input).map(statOf),
    };
  },
  'tool.result': (common, payload) => {
    const durationMs = asNumber(payload.durationMs);
    const output = resultText(payload);
    const end = readOutput(payload.output);
    const exitCode = asNumber(payload.exitCode) ?? end.exitCode;
    const { success, changes } = asObject(payload.detail);
    const isRefused = end.failed === true || (success === false && changes !== undefined);
    return {
      ...common,
      ...given('callId', payload.callId),
      ...given('name', payload.name),
      ...(exitCode !== undefined && { exitCode }),
      ...(durationMs !== undefined && { durationMs }),
      ...given('running', end.running),
      kind: 'result',
      failed: payload.isError === true || isRefused || (exitCode !== undefined && exitCode !== 0),
      preview: clip(output, MAX_PREVIEW),
      ...outcomeOf(output),
      changes: changesOfResult(payload.detail).map(statOf),
    };
  },
  usage: (common, payload) => {
    const { record, index } = asObject(payload.source);
    const isFirst = (asNumber(index) ?? 0) === 0;
    return { ...common, kind: 'usage', usage: readUsage(payload), ...(!isFirst && given('record', record)) };
  },
  compaction: (common, payload) => {
    const tokensBefore = asNumber(payload.tokensBefore);
    return {
      ...common,
      ...readText(payload.summary),
      ...given('trigger', payload.trigger),
      ...(tokensBefore !== undefined && { tokensBefore }),
      kind: 'compaction',
    };
  },
  'session.meta': (common, payload) => ({ ...common, kind: 'meta', facts: readFacts(payload) }),
  'subagent.started': readSubagent('started'),
  'subagent.finished': readSubagent('finished'),
  'turn.finished': (common, payload) => {
    const durationMs = asNumber(payload.durationMs);
    const reason = asText(payload.reason);
    return {
      ...common,
      ...(reason && { reason }),
      ...(durationMs !== undefined && { durationMs }),
      kind: 'turn',
      interrupted: /interrupt|abort|cancel/i.test(reason ?? ''),
    };
  },
  // A notice without words is useless to a reader.
  notice: (common, payload) =>
    asText(payload.text) && !QUIET_NOTICES.test(asText(payload.kind) ?? '')
      ? readNotice('notice')(common, payload)
      : readQuiet(common, payload),
  error: readNotice('error'),
};

const readPrompt = (common: Common, text: unknown, images: number): Entry => ({
  ...common,
  ...readText(text),
  kind: 'prompt',
  images,
});

/**
 * A slash command or a `!` line in its typed form. Claude Code keeps it in tags. A command that calls the model begins with its
 * message. A command that the program handles itself, such as `/clear` or `/model`, begins with its name, and is not a prompt.
 * (Seen in versions 1.0 to 2.1.)
 * @returns undefined if the text is neither
 */
function typedCommand(text: string): string | undefined {
  const shell = /^\s*<bash-input>(.*?)<\/bash-input>/s.exec(text)?.[1];
  if (shell !== undefined) return `! ${shell.trim()}`;
  if (!/^\s*<command-message>/.test(text)) return undefined;
  const name = /<command-name>(.*?)<\/command-name>/s.exec(text)?.[1]?.trim();
  if (!name) return undefined;
  const given = /<command-args>(.*?)<\/command-args>/s.exec(text)?.[1]?.trim() ?? '';
  return `${name.startsWith('/') ? '' : '/'}${name} ${given}`.trim();
}

/** Notices that repeat other entries, such as queued prompts and the progress of tools; and successful hooks. */
const QUIET_NOTICES =
  /^(?:queue-operation|progress(?::.*)?|.+_progress|query_update|search_results_received|waiting_for_task|hook_success)$/s;

function readAnswer(kind: 'answer' | 'reasoning'): Reader {
  return (common, payload) => ({
    ...common,
    ...readText(payload.text),
    ...given('model', payload.model),
    ...given('messageId', payload.messageId),
    kind,
  });
}

function readNotice(kind: 'notice' | 'error'): Reader {
  return (common, payload) => ({ ...common, ...readText(payload.text), ...given('about', payload.kind), kind });
}

function readSubagent(phase: 'started' | 'finished'): Reader {
  return (common, payload) => ({
    ...common,
    ...given('callId', payload.callId),
    ...given('agentType', payload.agentType),
    ...given('description', payload.description),
    kind: 'subagent',
    phase,
    subagent: asText(payload.subagent) ?? '',
  });
}

const FACTS = ['title', 'titleBy', 'cwd', 'repository', 'branch', 'commit', 'model', 'forkedFrom'];

function readFacts(payload: Loose): Record<string, string> {
  const facts = Object.fromEntries(
    FACTS.flatMap((name) => (asText(payload[name]) ? [[name, asText(payload[name]) as string]] : [])),
  );
  const host = repositoryHostOf(payload);
  const isShort = facts.repository !== undefined && !hasHost(facts.repository);
  return isShort && host !== undefined ? { ...facts, repository: `${host}/${facts.repository}` } : facts;
}

/** Copilot CLI writes the host of a repository beside its name. */
function repositoryHostOf({ rest }: Loose): string | undefined {
  const at = (value: unknown, name: string): unknown => (value as Loose | null | undefined)?.[name];
  return (
    asText(at(at(at(rest, 'data'), 'context'), 'repositoryHost')) || asText(at(at(rest, 'data'), 'repositoryHost'))
  );
}

/** An entry without its own row; `about` is its kind. */
function readQuiet(common: Common, payload: Loose): QuietEntry {
  const kind = asText(payload.kind);
  const { source: _, occurredAt: __, kind: ___, text, raw, rest, ...others } = payload;
  const shown = Object.keys(others).length > 0 ? others : rest;
  const words = asText(text) ?? asText(raw) ?? (shown === undefined ? '' : JSON.stringify(shown).slice(0, 600));
  const isDuplicate = kind?.startsWith('duplicate:') ?? false;
  const about = kind ? `${common.eventType} · ${kind}` : common.eventType;
  const listed = listedAddOns(payload);
  const preview = firstLine(words.replace(/\s+/g, ' '));
  return { ...common, kind: 'quiet', about, preview, isDuplicate, ...(listed.length > 0 && { listed }) };
}

const MAX_BRIEF = 80;

/** A short form of a sub-agent's prompt: its beginning, and its length to distinguish prompts with the same beginning. */
function briefOf(prompt: string): string {
  const text = prompt.trim();
  return text === '' ? '' : `${text.length} ${clip(text, MAX_BRIEF)}`;
}

/** The brief of a call that starts a sub-agent. These calls name the sub-agent's type or describe its task. */
function briefOfCall(input: unknown): string {
  const { prompt, subagent_type: type, description } = asParsedObject(input);
  return typeof type === 'string' || typeof description === 'string' ? briefOf(asText(prompt) ?? '') : '';
}

const inOneLine = (command: string) =>
  clip(
    clip(command, 4 * MAX_COMMAND)
      .replace(/\s+/g, ' ')
      .trim(),
    MAX_COMMAND,
  );

function readText(value: unknown): { text: string; length: number } {
  const text = asText(value) ?? '';
  return { text: clip(text, MAX_TEXT), length: text.length };
}

const given = <const Name extends string>(name: Name, value: unknown): { [Key in Name]?: string } =>
  typeof value === 'string' && value !== '' ? ({ [name]: value } as { [Key in Name]: string }) : {};
