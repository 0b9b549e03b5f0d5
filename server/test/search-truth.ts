import type { Agent } from '../../cli/agents/agent.ts';
import { claudeCode } from '../../cli/agents/claude-code/claude-code.ts';
import { codex } from '../../cli/agents/codex/codex.ts';
import { transcriptsOf } from '../../cli/test/agents/corpus.ts';
import { MAX_PAYLOAD_BYTES } from '../../contract/event.ts';
import { resultText } from '../../transcript/entry/output.ts';
import { splitPayload } from '../../transcript/parts.ts';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';

/*
 * What a search must find in recorded sessions, read a second time with no code of the search: the texts that a reader of the
 * timeline sees, and whether they have a query.
 */

export interface RecordedSession {
  /** In the form in which the command line sends them. */
  events: { eventType: string; payload: object }[];
  /** The texts that a reader of the timeline sees. */
  texts: string[];
  /** All texts of the events. */
  all: string[];
}

/** The sessions of the samples, and of the larger collection if it is beside the repository. */
export function recordedSessions(): RecordedSession[] {
  const sessions = new Map<string, CapturedEvent[]>();
  for (const agent of [claudeCode, codex]) {
    for (const { session, events } of parsed(agent)) {
      const known = sessions.get(session);
      if (known) known.push(...events);
      else sessions.set(session, events);
    }
  }
  return [...sessions.values()].map((events) => ({
    events: events.flatMap(asSent),
    texts: events.flatMap(textsSeen).map(asRead),
    all: events.flatMap(({ payload }) => [...stringsIn(payload), ...writtenIn(payload)]).map(asRead),
  }));
}

const asRead = (text: string) => text.normalize('NFC').replace(COLOURS, '');
// biome-ignore lint/suspicious/noControlCharactersInRegex: every such sequence begins with it
const COLOURS = /\u001b\[[0-9;?]*[A-Za-z]/g;

const parsed = (agent: Agent) =>
  transcriptsOf(agent).map(({ lines, origin, path: file }) => ({
    session: `${agent.id} ${origin.session}`,
    events: lines.flatMap((line, position) => agent.parse(JSON.parse(line), { origin, file, position })),
  }));

/** A large payload is sent in parts. */
function asSent({ eventType, payload }: CapturedEvent): RecordedSession['events'] {
  const json = JSON.stringify(payload);
  if (Buffer.byteLength(json) <= MAX_PAYLOAD_BYTES) return [{ eventType, payload }];
  return splitPayload(payload.source, json, MAX_PAYLOAD_BYTES).map((part) => ({ eventType, payload: part }));
}

function textsSeen(event: CapturedEvent): string[] {
  switch (event.eventType) {
    case 'user.message':
    case 'assistant.message':
    case 'assistant.reasoning':
      return stringsIn(event.payload.text);
    case 'tool.call':
      return [...stringsIn(event.payload.name), ...stringsIn(event.payload.input)];
    case 'tool.result':
      return stringsIn(resultText(event.payload));
    case 'compaction':
      return stringsIn(event.payload.summary);
    default:
      return [];
  }
}

/** All strings of a value. An image or another file as text is none that a person reads. */
function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') {
    const inner = objectIn(value);
    if (inner !== undefined) return stringsIn(inner);
    return /[A-Za-z0-9+/]{500}/.test(value) ? [] : [value];
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** All strings of a value as they are, of which some are JSON themselves. */
function writtenIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(writtenIn) : [];
}

/** The object in a JSON text. */
function objectIn(text: string): object | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Tells which sessions a search for some text must find, and which it may. */
export function createReader(sessions: readonly RecordedSession[]) {
  const read = sessions.map(({ texts, all }) => ({
    lower: texts.join('\n\n').toLowerCase(),
    letters: all.map(lettersOf).join(' '),
  }));
  return (query: string) => {
    const [lower, letters] = [query.toLowerCase(), lettersOf(query)];
    return read.map((session) => {
      const must = hasBetweenOtherSigns(session.lower, lower);
      return { must, may: must || session.letters.includes(letters) };
    });
  };
}

/** Whether a text has the query between other signs than letters and digits. Such a text must be found. */
function hasBetweenOtherSigns(text: string, query: string): boolean {
  for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + 1)) {
    const [before, after] = [text.slice(Math.max(0, at - 2), at), text.slice(at + query.length, at + query.length + 2)];
    if (!/[\p{L}\p{N}\p{M}]$/u.test(before) && !/^[\p{L}\p{N}\p{M}]/u.test(after)) return true;
  }
  return false;
}

/** The letters and digits of a text. No text may be found that does not have those of the query in this order. */
const lettersOf = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}\p{M}]+/gu, '');

const KINDS = {
  identifier: /\b(?:[a-z]+(?:[A-Z][a-z]+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+|[a-z]+(?:_[a-z]+)+|[A-Z]+(?:_[A-Z]+)+)\b/g,
  'file name': /\b[A-Za-z][\w-]{2,40}\.(?:ts|tsx|js|go|py|md|json|rs|yaml|yml|toml|sh|css|html|sql)\b/g,
  phrase: /(?<![^\s])[A-Za-z][\w']*(?: [A-Za-z][\w'./-]*){1,3}(?![^\s.,;:!?)])/g,
} as const;

export type Kind = keyof typeof KINDS;
export interface Drawn {
  kind: Kind;
  text: string;
}

/** Draws queries from the texts, as many of each kind. */
export function drawQueries(sessions: readonly RecordedSession[], count: number, random: () => number): Drawn[] {
  const drawn = new Map<string, Drawn>();
  const pick = <One>(all: readonly One[]) => all[Math.floor(random() * all.length)];
  const kinds = Object.keys(KINDS) as Kind[];
  for (let tries = 0; drawn.size < count && tries < count * 1000; tries++) {
    const kind = kinds[tries % kinds.length] as Kind;
    const found = [...(pick(pick(sessions)?.texts ?? [])?.slice(0, 50_000) ?? '').matchAll(KINDS[kind])];
    const text = pick(found)?.[0];
    if (text !== undefined && text.length >= 6 && text.length <= 60) drawn.set(text, { kind, text });
  }
  return [...drawn.values()];
}
