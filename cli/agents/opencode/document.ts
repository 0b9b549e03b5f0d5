import { parseExact } from '../../read/exact.ts';
import type { JsonObject } from '../agent.ts';
import { isObject } from '../remainder.ts';
import type { DocumentStore } from '../store.ts';
import { toPartRecord } from './context.ts';

/** What `opencode export` writes: `{info, messages: [{info, parts: []}]}`. Its records are those of the database. */
export const exported: DocumentStore = { kind: 'document', split: (text) => [{ name: '', records: split(text) }] };

function split(text: string): JsonObject[] {
  const document = parseExact(text);
  if (!isObject(document) || !isObject(document.info) || !Array.isArray(document.messages)) {
    throw new Error('it is no export of a session');
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

/** Of a prompt only the message tells the time. */
function withTime(record: JsonObject, part: JsonObject, { time }: JsonObject): JsonObject {
  return part.time === undefined && isObject(time) ? { ...record, created: time.created } : record;
}
