import { parseExact } from '../../exact.ts';
import type { JsonObject } from '../agent.ts';
import { isObject } from '../shared/part.ts';
import type { DocumentStore } from '../store.ts';

/**
 * Stores a part under the role of its message, because the same text may be a prompt, an answer or a summary. Adds the model
 * if an event needs it.
 */
export function toPartRecord(part: JsonObject, content: JsonObject, message: JsonObject): JsonObject {
  const { role, modelID: model, summary } = message;
  const isKnown = role === 'user' || role === 'assistant';
  const key = !isKnown ? 'part' : role === 'assistant' && summary === true ? 'summary' : role;
  const isSaid = role === 'assistant' && OF_MODEL.has(content.type) && !(key === 'summary' && content.type === 'text');
  const isOfModel = isSaid && typeof model === 'string';
  return { [key]: part, ...(isOfModel && { model }) };
}

const OF_MODEL: ReadonlySet<unknown> = new Set(['text', 'reasoning', 'tool', 'step-finish']);

/** Whether a message, or a part of a message in this role, is still being written. */
export function isUnsettled({ type, role, state, time, error, summary }: JsonObject, roleOfMessage?: unknown): boolean {
  const times = isObject(time) ? time : {};
  if (role === 'assistant') return times.completed === undefined && error === undefined;
  // The summary of all changed files so far. Nobody sees it, and it is rewritten after every step.
  if (role === 'user') return summary !== undefined;
  if (roleOfMessage !== 'assistant') return false;
  if (type === 'text' || type === 'reasoning') return times.end === undefined;
  return type === 'tool' && isObject(state) && (state.status === 'pending' || state.status === 'running');
}

/** The output of `opencode export`: `{info, messages: [{info, parts: []}]}`. Its records equal the database's. */
export const exported: DocumentStore = { kind: 'document', split: (text) => [{ name: '', records: split(text) }] };

function split(text: string): JsonObject[] {
  const document = parseExact(text);
  if (!isObject(document) || !isObject(document.info) || !Array.isArray(document.messages)) {
    throw new Error('it is not the export of a session');
  }
  const { info, messages, ...others } = document;
  return [{ session: info, ...others }, ...messages.flatMap(splitMessage)];
}

function splitMessage(message: unknown): JsonObject[] {
  if (!isObject(message) || !isObject(message.info) || !Array.isArray(message.parts)) return [{ message }];
  const { info, parts, ...others } = message as JsonObject & { info: JsonObject; parts: unknown[] };
  const own = { message: info, ...others };
  const records = parts.map((part) =>
    isObject(part) ? withTime(toPartRecord(part, part, info), part, info) : { part },
  );
  return info.role === 'assistant' ? [...records, own] : [own, ...records];
}

/** Only the message has the time of a prompt. */
function withTime(record: JsonObject, part: JsonObject, { time }: JsonObject): JsonObject {
  return part.time === undefined && isObject(time) ? { ...record, created: time.created } : record;
}
