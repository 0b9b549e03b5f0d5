import { globSync } from 'node:fs';
import { join } from 'node:path';
import { readStored } from './missing.ts';

/**
 * The types of the records that an agent stored below a home folder, as far as a member says so: `event_msg token_count`.
 * Like the search for missing values, it shares no code with capture's readers.
 */
export function recordTypes(home: string, stored: string): string[] {
  const records = globSync(stored, { cwd: home }).flatMap((file) => readStored(join(home, file)));
  return [...new Set(records.flatMap(typesIn))].sort();
}

/** A record in a list, a row or a document is one of the objects in it. */
function typesIn(value: unknown): string[] {
  if (!isObject(value)) return Array.isArray(value) ? value.flatMap(typesIn) : [];
  const own = wordOf(value);
  const inner = Object.values(value).filter(isObject).map(wordOf).filter(Boolean);
  const type = [own, ...inner].filter(Boolean).join(' ');
  return [type, ...Object.values(value).filter(Array.isArray).flatMap(typesIn)].filter(Boolean);
}

const wordOf = ({ type, role }: { type?: unknown; role?: unknown }): string =>
  [type, role].filter((word) => typeof word === 'string').join(' ');

const isObject = (value: unknown): value is { [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
