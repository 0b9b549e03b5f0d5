import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import { isObject } from '../../agents/shared/part.ts';

/**
 * The payload fields that may have a leaf that the record lacks, or a leaf that several events of the record repeat. Every other
 * leaf of an event comes from the record.
 */
export const ADDED: ReadonlySet<string> = new Set([
  'source.agent',
  'source.agentVersion', // the file's version if the record has none
  'source.session', // if the record names another one, or none
  'source.subagent',
  'source.file',
  'source.position',
  'source.index',
  'source.revision',
  'source.record', // from here on: repeated by the second and later events of a record
  'source.parent',
  'occurredAt',
  'model',
  'messageId',
  'responseId', // also: made from the running total if the agent has no response ids
  'callId',
  'kind', // the parser's word for what the record is
  'name', // of a tool that the agent names only by the record's type
  'text', // '' if the event requires a text and the record has none, such as encrypted reasoning; or unwrapped from a tag
  'images', // a count
  'titleBy',
  'totalTokens', // the sum, if the agent counts reasoning beside the output and stores no total
  'cached', // depends on how the agent counts
  'purpose', // of a response, by the record that reports it
  'isError', // if the agent records success instead of failure, or uses another word
]);

/**
 * Compares a record with its events: every leaf must be in the events exactly once. A leaf is a string, a number, a boolean,
 * null, or an empty container.
 */
export function compareLeaves(
  record: unknown,
  events: readonly CapturedEvent[],
): { lost: string[]; doubled: string[] } {
  const missing = new Map<string, number>();
  const count = (leaf: string, by: number) => missing.set(leaf, (missing.get(leaf) ?? 0) + by);
  for (const leaf of leavesOf(record)) count(leaf, 1);
  const added: string[] = [];
  for (const [name, value] of events.flatMap(fieldsOf)) {
    if (ADDED.has(name)) added.push(JSON.stringify(value));
    else for (const leaf of leavesOf(value)) count(leaf, -1);
  }
  // A field that the parser may add may also come from the record.
  for (const leaf of added) if ((missing.get(leaf) ?? 0) > 0) count(leaf, -1);
  const different = [...missing];
  return {
    lost: different.filter(([, by]) => by > 0).map(([leaf]) => leaf),
    doubled: different.filter(([, by]) => by < 0).map(([leaf]) => leaf),
  };
}

/** The JSON text of every leaf. It does not recurse, so it handles any depth. */
export function* leavesOf(value: unknown): Generator<string> {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    const parts = Array.isArray(next) ? next : isObject(next) ? Object.values(next) : [];
    if (parts.length === 0) yield JSON.stringify(next);
    else for (const part of parts) open.push(part);
  }
}

function fieldsOf({ payload }: CapturedEvent): [name: string, value: unknown][] {
  const { source, ...fields } = payload;
  const ofSource = Object.entries(source).map(([name, value]): [string, unknown] => [`source.${name}`, value]);
  return [...ofSource, ...Object.entries(fields)];
}
