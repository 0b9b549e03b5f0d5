import type { JsonObject } from '../agent.ts';
import { partition, recordsOf } from '../shared/document.ts';
import { isObject } from '../shared/part.ts';
import type { DocumentSession } from '../store.ts';

/** What of a session's facts changes while it runs. */
const CHANGES = new Set(['status', 'ended_at', 'exit_code', 'metadata']);
/** What of `metadata` does not. */
const LASTING = new Set(['sessionHistoryOrigin', 'git', 'fork']);

/** The records of a document of the command line's; undefined where it is none. */
export function splitSession(document: unknown): DocumentSession[] | undefined {
  if (!isObject(document)) return undefined;
  if (typeof document.session_id === 'string') return [{ name: '', records: splitFacts(document) }];
  // Of version 2 is an envelope of an extension's.
  if (!Array.isArray(document.messages) || document.updated_at === undefined) return undefined;
  return [splitMessages(document, document.messages)];
}

function splitFacts(document: JsonObject): JsonObject[] {
  const { named: changes, others: facts } = partition(document, CHANGES);
  if (isObject(changes.metadata)) {
    const { named: lasting, others: changing } = partition(changes.metadata, LASTING);
    facts.metadata = lasting;
    changes.metadata = changing;
    for (const part of [facts, changes]) if (!isFull(part.metadata as JsonObject)) delete part.metadata;
  }
  return [facts, changes].filter(isFull);
}

const isFull = (record: JsonObject) => Object.keys(record).length > 0;

/** Without a message it is not a session yet: then the header does not name the folder either. */
function splitMessages(document: JsonObject, messages: unknown[]): DocumentSession {
  if (messages.length === 0) return { name: '', records: [] };
  const { updated_at, ...header } = partition(document, new Set(['messages'])).others;
  const records = [header, ...recordsOf(messages).map(unwrap), { updated_at }];
  return { name: '', records: records.filter(isFull), folder: folderIn(header.system_prompt) };
}

const folderIn = (prompt: unknown): string | undefined =>
  typeof prompt === 'string' ? /Working Directory: (.+)/.exec(prompt)?.[1]?.trim() : undefined;

const WRAPPED = /^<user_input mode="(\w*)">((?:(?!<\/?user_input)[\s\S])*)<\/user_input>$/;

/** What a person typed is wrapped: the mode becomes a field of its own, so that the text is what was typed. */
function unwrap(message: JsonObject): JsonObject {
  const { content, role } = message;
  if (role !== 'user' || !Array.isArray(content)) return message;
  return { ...message, content: content.map(unwrapBlock) };
}

function unwrapBlock(block: unknown): unknown {
  if (!isObject(block) || typeof block.text !== 'string' || block.user_input !== undefined) return block;
  const [, mode, text] = WRAPPED.exec(block.text) ?? [];
  return text === undefined ? block : { ...block, text, user_input: { mode } };
}
