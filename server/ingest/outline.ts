import type { Source, Vocabulary } from '../../contract/transcript.ts';

/*
 * An event in outline: what was asked, said and called, and nothing that a tool answered. Only what is listed is shown, so that an event
 * type or a field that is added later is hidden until somebody decides about it. Records that agents write (`rest`) and parts
 * of large payloads may have anything in them, so they are never shown.
 */

/** Where an event stands in its session, for readers that put a session together. Paths of files are left out. */
const PLACE: readonly (keyof Source)[] = [
  'agent',
  'session',
  'record',
  'parent',
  'subagent',
  'position',
  'index',
  'revision',
];

const SHOWN: { [Type in keyof Vocabulary]?: readonly (keyof Vocabulary[Type])[] } = {
  'session.meta': ['model'],
  'user.message': ['text', 'images'],
  'assistant.message': ['text', 'model', 'messageId'],
  'tool.call': ['callId', 'name', 'input', 'model'],
  'tool.result': ['callId', 'name', 'isError', 'exitCode', 'durationMs'],
  usage: [
    'responseId',
    'model',
    'inputTokens',
    'outputTokens',
    'cacheReadTokens',
    'cacheWriteTokens',
    'reasoningTokens',
    'totalTokens',
    'cached',
  ],
  compaction: ['trigger', 'tokensBefore'],
  'subagent.started': ['subagent', 'callId', 'agentType', 'description', 'prompt'],
  'subagent.finished': ['subagent', 'callId'],
  'turn.finished': ['reason', 'durationMs'],
};

/** The payload of an event without what its tools answered, as JSON. */
export function outlineOf(eventType: string, payload: Buffer): string {
  const fields = Object.hasOwn(SHOWN, eventType) ? SHOWN[eventType as keyof Vocabulary] : undefined;
  const value: unknown = JSON.parse(payload.toString());
  if (!isRecord(value) || fields === undefined) return '{}';
  const source = isRecord(value['source']) ? { source: { file: '', ...picked(value['source'], PLACE) } } : {};
  return JSON.stringify({ ...source, ...picked(value, ['occurredAt', ...fields]) });
}

const picked = (value: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(value, name) ? [[name, value[name]]] : [])));

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
