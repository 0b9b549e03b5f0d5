import type { CapturedEvent } from '../../../contract/transcript.ts';
import { isObject } from '../../agents/shared/part.ts';

/**
 * The payload fields that may hold a leaf the record does not have, or has once while several events of the record say
 * it. Every other leaf of an event was taken out of the record.
 */
export const ADDED: ReadonlySet<string> = new Set([
  'source.agent',
  'source.agentVersion', // where the record has none: the file's
  'source.session', // where the record says another, or none
  'source.subagent',
  'source.file',
  'source.position',
  'source.index',
  'source.revision',
  'source.record', // from here on: said again by the second and later events of a record
  'source.parent',
  'occurredAt',
  'model',
  'messageId',
  'responseId', // also: made from the running total where the agent has no id of a response
  'callId',
  'kind', // the parser's word for what the record is
  'name', // of a tool that the agent only names by the record's type
  'text', // '' where an event must have one and the record has none, such as encrypted thoughts; or without a wrapping
  'images', // a count
  'titleBy',
  'cached', // how the agent counts
  'isError', // where the agent says the opposite, that it succeeded, or uses another word
]);

/**
 * Whether the events of a record say all that it says, and nothing twice. A leaf is a string, a number, a boolean, null,
 * or an empty container.
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
  // A field that may be added may also have been taken from the record.
  for (const leaf of added) if ((missing.get(leaf) ?? 0) > 0) count(leaf, -1);
  const different = [...missing];
  return {
    lost: different.filter(([, by]) => by > 0).map(([leaf]) => leaf),
    doubled: different.filter(([, by]) => by < 0).map(([leaf]) => leaf),
  };
}

/** The JSON text of every leaf. Not recursive, so that no depth is too deep. */
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
