import type { JsonObject } from '../agent.ts';
import { documentOf, partition, recordsOf } from '../document.ts';
import { isObject } from '../remainder.ts';
import type { DocumentStore } from '../store.ts';

/**
 * Versions before 0.40 kept a session as one JSON document, written anew with each message: its own fields first, then
 * the messages. As records they are what newer versions write: a header, and a message each.
 */
export const DOCUMENT: DocumentStore = {
  kind: 'document',
  split(text) {
    const document = documentOf(text);
    if (!isObject(document)) throw new Error('it is no session of Gemini CLI');
    const { messages } = document;
    if (!Array.isArray(messages)) return [{ name: '', records: [document] }];
    const { others } = partition(document, MESSAGES);
    const records: JsonObject[] = [others, ...recordsOf(messages)];
    return [{ name: '', records }];
  },
  // Its header changes with every message, and an answer when its tools have answered.
  isUnsettled: (record, isLast) => isLast || Object.hasOwn(record, 'sessionId'),
};

const MESSAGES = new Set(['messages']);
