import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { Source, VOCABULARY, type Vocabulary } from '../../transcript/vocabulary.ts';

/*
 * The outline of an event: prompts, answers and tool calls, but no output of tools. Only listed fields are shown, so that a
 * later event type or field is hidden until somebody decides about it. A field is shown only in its declared type, because a
 * client may send a text or an object in its place. The records that agents write (`rest`) and the parts of
 * large payloads may contain anything, so they are never shown.
 */

/** The place of an event in its session, for readers that reassemble a session. File paths are left out. */
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

/** The payload of an event without the output of tools, as JSON. */
export function outlineOf(eventType: string, payload: Buffer): string {
  const fields = Object.hasOwn(SHOWN, eventType) ? SHOWN[eventType as keyof Vocabulary] : undefined;
  const value: unknown = JSON.parse(payload.toString());
  if (!isRecord(value) || fields === undefined) return '{}';
  const { properties } = VOCABULARY[eventType as keyof Vocabulary];
  const source = isRecord(value.source)
    ? { source: { file: '', ...picked(value.source, PLACE, Source.properties) } }
    : {};
  return JSON.stringify({ ...source, ...picked(value, ['occurredAt', ...fields], properties) });
}

const picked = (
  value: Record<string, unknown>,
  names: readonly string[],
  declared: { readonly [name: string]: TSchema | undefined },
) =>
  Object.fromEntries(
    names.flatMap((name) => {
      const schema = declared[name];
      const isFit = schema !== undefined && Object.hasOwn(value, name) && Value.Check(schema, value[name]);
      return isFit ? [[name, value[name]]] : [];
    }),
  );

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
