import type { JsonObject } from './agent.ts';

/**
 * A record that is being taken apart. Parsers `take` leaves out of it and put them into events; what they leave becomes
 * the first event's `rest`. So no leaf can be lost, and none can be stored twice.
 *
 * The record itself is changed, since copying it would cost more than the parsing: who calls a parser hands it over.
 */
export interface Remainder {
  readonly record: JsonObject;
  /** Arrays and how many of their elements were taken: gaps are closed at the end, so indexes hold until then. */
  readonly gaps: Map<unknown[], number>;
  /** Whether there was nothing to take from the start: an empty object is a leaf itself. */
  readonly wasEmpty: boolean;
}

export type Path = readonly (string | number)[];

export const remainderOf = (record: JsonObject): Remainder => ({
  record,
  gaps: new Map(),
  wasEmpty: isEmpty(record),
});

/** The value at a path, `undefined` where there is none. */
export function peek({ record }: Remainder, ...path: Path): unknown {
  let value: unknown = record;
  for (const key of path) value = child(value, key);
  return value;
}

/** Removes the value at a path and returns it; a container that this empties goes with it. */
export function take(remainder: Remainder, ...path: Path): unknown {
  const parents: unknown[] = [remainder.record];
  for (const key of path) parents.push(child(parents.at(-1), key));
  const value = parents.pop();
  if (value !== undefined) detach(remainder, parents, path);
  return value;
}

/** What nobody took, `undefined` if that is nothing. */
export function restOf({ record, gaps, wasEmpty }: Remainder): JsonObject | undefined {
  for (const array of gaps.keys()) closeGaps(array);
  return isEmpty(record) && !wasEmpty ? undefined : record;
}

/** A JSON object; not a number kept exact by `JSON.rawJSON`, which is a leaf. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

function child(value: unknown, key: string | number): unknown {
  if (typeof key === 'number') return Array.isArray(value) ? value[key] : undefined;
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function detach(remainder: Remainder, parents: unknown[], path: Path): void {
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const parent = parents[depth] as JsonObject | unknown[];
    const key = path[depth] as string & number;
    if (Array.isArray(parent)) {
      const taken = (remainder.gaps.get(parent) ?? 0) + 1;
      parent[key] = undefined;
      remainder.gaps.set(parent, taken);
      if (taken < parent.length) return;
    } else {
      delete parent[key];
      if (!isEmpty(parent)) return;
    }
  }
}

function closeGaps(array: unknown[]): void {
  let length = 0;
  for (const element of array) if (element !== undefined) array[length++] = element;
  array.length = length;
}

function isEmpty(object: JsonObject): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return false;
  return true;
}

const { isRawJSON } = JSON as unknown as { isRawJSON?: (value: unknown) => boolean };
const isExactNumber = (value: object): boolean => isRawJSON?.(value) ?? false;
