import type { JsonObject } from '../agent.ts';

/**
 * A record that is being taken apart, or a value inside one. Parsers `take` leaves out of it and put them into events. The
 * leaves that remain become the first event's `rest`. So no leaf can be lost, and none can be stored twice.
 * The record itself is changed, since copying it would cost more than parsing it: callers give the record away. A taken value
 * is `undefined` until the end, since `delete` turns objects into dictionaries. With `delete`, on 70 MB of transcripts,
 * parsing was a quarter slower and writing the events a third.
 */
export interface Part {
  readonly value: unknown;
  /** The part that contains this one, and the place in it. Undefined for the record. */
  readonly up: Part | undefined;
  readonly key: string | number;
  /** How much is left of each container after fields were taken out, and of those around it. */
  readonly left: Map<object, number>;
}

export type Path = readonly (string | number)[];

/** A place in a part: keys with dots between them, or one by one. An empty place is the part itself. */
export type Where = string | Path;

export const partOf = (record: JsonObject): Part => ({ value: record, up: undefined, key: '', left: new Map() });

/** The part at a place, even if there is no value. */
export function at(part: Part, where: Where): Part {
  let inner = part;
  for (const key of toPath(where)) inner = { value: child(inner.value, key), up: inner, key, left: part.left };
  return inner;
}

/** The elements of a list. Empty if there is no list. */
export function elementsAt(part: Part, where: Where): Part[] {
  const list = at(part, where);
  // The list may go on.
  watching?.(list, [Array.isArray(list.value) ? list.value.length : 0]);
  if (!Array.isArray(list.value)) return [];
  return list.value.map((value, key) => ({ value, up: list, key, left: part.left }));
}

/** The value at a place without taking it. `undefined` if there is none, or if it was taken. */
export function peek(part: Part, where: Where = ''): unknown {
  watching?.(part, where);
  let value = part.up === undefined ? part.value : child(part.up.value, part.key);
  for (const key of toPath(where)) value = child(value, key);
  return value;
}

/** Told of each place that a parser looks at; see `watchPlaces`. */
let watching: ((part: Part, where: Where) => void) | undefined;

/** Runs a parser, and returns the places that it looked at in its record, in this order. Parsers run without a break. */
export function watchPlaces<Result>(run: () => Result): { result: Result; places: Path[] } {
  const places = new Map<string, Path>();
  const before = watching;
  watching = (part, where) => {
    const path = [...placeOf(part), ...toPath(where)];
    places.set(JSON.stringify(path), path);
  };
  try {
    return { result: run(), places: [...places.values()] };
  } finally {
    watching = before;
  }
}

function placeOf(part: Part): Path {
  return part.up === undefined ? [] : [...placeOf(part.up), part.key];
}

/** The text at a place without taking it, to distinguish kinds. */
export function peekText(part: Part, where: Where = ''): string | undefined {
  const value = peek(part, where);
  return typeof value === 'string' ? value : undefined;
}

/** The first text with content, without taking it. */
export function peekWords(part: Part, where: Where = '', ...others: readonly Where[]): string | undefined {
  const words = peekText(part, where);
  return words || (others.length > 0 ? peekWords(part, ...others) : undefined);
}

/** Removes the value at a place and returns it. A container that becomes empty is removed with it. */
export function take(part: Part, where: Where = ''): unknown {
  const inner = where === '' ? part : at(part, where);
  const value = peek(inner);
  if (value === undefined || inner.up === undefined) return undefined;
  const { left } = part;
  let isEmpty = true;
  for (let inside = inner; inside.up !== undefined; inside = inside.up) {
    const container = inside.up.value as JsonObject;
    const count = left.get(container);
    if (!isEmpty && count !== undefined) break;
    const size = count ?? sizeOf(container);
    if (isEmpty) container[inside.key] = undefined;
    left.set(container, isEmpty ? size - 1 : size);
    isEmpty &&= size === 1;
  }
  return withoutTaken(left, value);
}

/** The remaining leaves of the record. `undefined` if there are none. */
export const restOf = ({ value, left }: Part): unknown =>
  left.get(value as object) === 0 ? undefined : withoutTaken(left, value);

/*
 * An agent may write any type under any key. A value that does not fit the field of the vocabulary is left where it is, and so
 * stays in `rest`.
 */

/** Takes the text at the first place that has one. */
export function takeText(part: Part, where: Where = '', ...others: readonly Where[]): string | undefined {
  if (peekText(part, where) !== undefined) return take(part, where) as string;
  return others.length > 0 ? takeText(part, ...others) : undefined;
}

/** Takes the first text with content. */
export function takeWords(part: Part, where: Where = '', ...others: readonly Where[]): string | undefined {
  if (peekText(part, where)) return take(part, where) as string;
  return others.length > 0 ? takeWords(part, ...others) : undefined;
}

export function takeInteger(part: Part, where: Where): number | undefined {
  return Number.isInteger(peek(part, where)) ? (take(part, where) as number) : undefined;
}

/** Takes the value only if it equals this one, because an event has the same value elsewhere. */
export function takeSame(part: Part, where: Where, value: string | undefined): void {
  if (value !== undefined && peek(part, where) === value) take(part, where);
}

/** Whether a value is a JSON object. A number kept exact by `JSON.rawJSON` is a leaf and not an object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

const paths = new Map<string, Path>();

/** Caches paths. The code contains a few hundred places. */
export function toPath(where: Where): Path {
  if (typeof where !== 'string') return where;
  let path = paths.get(where);
  if (path === undefined) {
    path = where === '' ? [] : where.split('.').map((key) => (/^\d+$/.test(key) ? Number(key) : key));
    paths.set(where, path);
  }
  return path;
}

function child(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== (typeof key === 'number'))
    return undefined;
  // An exact number is an object with only this key.
  if (!Object.hasOwn(value, key) || (key === 'rawJSON' && isExactNumber(value))) return undefined;
  return (value as JsonObject)[key];
}

function sizeOf(container: object): number {
  if (Array.isArray(container)) return container.length;
  let size = 0;
  for (const _ in container) size++;
  return size;
}

function withoutTaken(left: Part['left'], value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !left.has(value)) return value;
  if (Array.isArray(value)) {
    return value.filter((element) => element !== undefined).map((element) => withoutTaken(left, element));
  }
  const rest: JsonObject = {};
  for (const key in value) {
    const inner = (value as JsonObject)[key];
    if (inner === undefined) continue;
    const untaken = withoutTaken(left, inner);
    // An assignment would set the prototype.
    if (key !== '__proto__') rest[key] = untaken;
    else Object.defineProperty(rest, key, { value: untaken, enumerable: true, configurable: true, writable: true });
  }
  return rest;
}

const { isRawJSON } = JSON as unknown as { isRawJSON?: (value: unknown) => boolean };
const isExactNumber = (value: object): boolean => isRawJSON?.(value) ?? false;
