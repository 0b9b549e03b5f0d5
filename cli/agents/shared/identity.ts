import { hash } from 'node:crypto';
import type { JsonObject, Origin } from '../agent.ts';
import { type Part, partOf } from './part.ts';

/** Helpers that distinguish sessions and records. */

/** An origin with the known facts. */
export const toOrigin = (facts: { [Fact in keyof Origin]: Origin[Fact] | undefined }): Origin =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as unknown as Origin;

/** The first record, for reading its fields. Empty if it does not have this type. */
export const headerOf = (first: JsonObject | undefined, type?: string): Part =>
  partOf(first === undefined || (type !== undefined && first.type !== type) ? {} : first);

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => text.length === 36 && UUID.test(text);

/** The UUID at the end of a name. */
export const uuidAtEnd = (name: string): string | undefined => UUID.exec(name)?.[0];

/** A file's name without its folders and its ending. */
export const stemOf = (path: string): string => path.replace(/^.*\/|\.jsonl?$/g, '');

/** A key for agents whose records have an id and a time that a copy keeps. */
export function keyOf({ type, timestamp, ...record }: JsonObject, idName: string): string | undefined {
  const id = Object.hasOwn(record, idName) ? record[idName] : undefined;
  // A header may be written again with another title. Without a time, the id alone could lose a record.
  if (typeof id !== 'string' || id.length < 8 || !isTime(timestamp)) return undefined;
  return [id, type, timestamp].filter((part) => typeof part === 'string').join(' ');
}

/** A word in place of the time, as in an anonymized transcript, does not distinguish records. */
export const isTime = (timestamp: unknown): timestamp is string =>
  typeof timestamp === 'string' && !Number.isNaN(Date.parse(timestamp));

/** A key for records that are written again under the same name with another content. */
export const keyWithContent = (name: string, record: unknown): string =>
  `${name} ${hash('sha256', JSON.stringify(record), 'base64url')}`;
