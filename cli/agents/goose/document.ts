import type { JsonObject } from '../agent.ts';
import { documentOf } from '../document.ts';
import { isObject } from '../remainder.ts';
import type { DocumentStore } from '../store.ts';

/** What `goose session export --format json` writes: the session, and in it its messages as `conversation`. */
export const exported: DocumentStore = { kind: 'document', split: (text) => [{ name: '', records: split(text) }] };

function split(text: string): JsonObject[] {
  const document = documentOf(text);
  if (!isObject(document) || !Array.isArray(document.conversation)) throw new Error('it is no export of a session');
  const { conversation, ...summed } = document;
  return [{ summed }, ...conversation.map((messages) => ({ messages }))];
}
