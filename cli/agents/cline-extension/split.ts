import type { JsonObject } from '../agent.ts';
import { recordsOf, unfold } from '../document.ts';
import { isObject } from '../remainder.ts';
import type { DocumentSession } from '../store.ts';

/** The records of one of a task's documents. Throws where it is none. */
export function splitTask(document: unknown): DocumentSession[] {
  if (Array.isArray(document)) return [splitList(recordsOf(document))];
  if (!isObject(document)) throw new Error('it is no document of a task');
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

/** Of the facts about a task, those that are new are captured and the others are not captured again. */
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

/** What is put before the model tells the folder; how it is wrapped depends on the version. */
function folderIn({ text, content }: JsonObject): string | undefined {
  const texts = typeof text === 'string' ? [text] : JSON.stringify(content ?? '').slice(0, 1_000_000);
  const found = /Current (?:Working|Workspace) Directory \(((?:[^()"\\]|\\\\)+)\)/.exec(String(texts))?.[1];
  // Within JSON a backslash is written twice.
  return found?.replaceAll('\\\\', '\\');
}

/** A message that is being written says so; a request has no cost until it is answered. */
export function isTaskUnsettled({ partial, say, text, tokensIn }: JsonObject): boolean {
  if (partial === true || tokensIn !== undefined) return true;
  return say === 'api_req_started' && isObject(text) && text.cost === undefined && text.cancelReason === undefined;
}
