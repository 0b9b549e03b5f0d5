import { isDeepStrictEqual } from 'node:util';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import type { Agent, JsonObject, RecordPlace } from '../agents/agent.ts';
import { isObject, type Path, toPath, watchPlaces } from '../agents/shared/part.ts';

/** A record made of its events again. */
export interface RestoredRecord {
  record: JsonObject;
  /** Whether the agent's parser makes exactly these events of it. */
  isExact: boolean;
}

/** A value in an event that a parser may have taken out of the record. */
interface Moved {
  /** Names the value among those of all events of the record. */
  slot: string;
  /** Names the field, for events that are not all there yet. */
  field: string;
  value: unknown;
}

/** Where each value of a kind of record belongs. */
type Plan = readonly { slot: string; path: Path }[];

type Attempt = { record: JsonObject; events: readonly CapturedEvent[]; places: readonly Path[]; faults: number };

/**
 * Makes records of their events again. A parser moves values of a record into fields of events and keeps the others in `rest`,
 * and nothing says where it found a value. So each value is put back at a place where the parser looks for it, until the parser
 * makes the same events of the record. No agent needs a second description of its records, and every result is proven.
 */
export function createRestoring(agent: Agent) {
  /** By the form of the events. Most records have the form of an earlier one, and need no search. */
  const plans = new Map<string, Plan>();

  return (events: readonly CapturedEvent[], place: RecordPlace): RestoredRecord => {
    const restoration = new Restoration(agent, events, place);
    const form = formOf(events);
    const plan = plans.get(form);
    const planned = plan && restoration.follow(plan);
    if (planned !== undefined) return { record: planned, isExact: true };
    const found = restoration.search();
    if (found.isExact) plans.set(form, found.plan);
    return found;
  };
}

class Restoration {
  readonly #agent: Agent;
  readonly #events: readonly CapturedEvent[];
  readonly #place: RecordPlace;
  readonly #moved: readonly Moved[];
  readonly #rest: unknown;

  constructor(agent: Agent, events: readonly CapturedEvent[], place: RecordPlace) {
    this.#agent = agent;
    this.#events = events;
    this.#place = place;
    this.#moved = movedIn(events);
    this.#rest = restIn(events);
  }

  /** The record, if its values belong where those of an earlier one did. */
  follow(plan: Plan): JsonObject | undefined {
    const values = new Map(this.#moved.map(({ slot, value }) => [slot, value]));
    let record: JsonObject | undefined = this.#begin();
    for (const { slot, path } of plan) {
      record = record && values.has(slot) ? put(record, path, values.get(slot)) : undefined;
    }
    const attempt = record && this.#attempt(record);
    return attempt?.faults === 0 ? attempt.record : undefined;
  }

  search(): RestoredRecord & { plan: Plan } {
    const plan: { slot: string; path: Path }[] = [];
    let record = this.#begin();
    let best = this.#attempt(record);
    for (let next = this.#improve(record, best); next !== undefined; next = this.#improve(record, best)) {
      plan.push(next.step);
      record = next.record;
      best = next.attempt;
    }
    return { record: best.record, isExact: best.faults === 0, plan };
  }

  /** Puts one more value back. Undefined if none brings the events closer to the captured ones. */
  #improve(record: JsonObject, best: Attempt) {
    if (best.faults === 0) return undefined;
    const places = this.#inOrder(record, best.places);
    // An object says what the values in it belong to, so it comes before them.
    const missing = this.#missingIn(best.events).filter(({ field }) => field !== 'eventType');
    for (const moved of [...missing.filter(isWhole), ...missing.filter((one) => !isWhole(one))]) {
      const equals = (one: Moved) => one.field === moved.field && isDeepStrictEqual(one.value, moved.value);
      const before = this.#missingIn(best.events).filter(equals).length;
      for (const path of places) {
        const tried = put(record, path, moved.value);
        const attempt = tried && this.#attempt(tried);
        if (!tried || !attempt || attempt.faults >= best.faults) continue;
        // Some events need any text to be made at all.
        if (this.#missingIn(attempt.events).filter(equals).length >= before) continue;
        return { record: tried, attempt, step: { slot: moved.slot, path } };
      }
    }
    return undefined;
  }

  #missingIn = (events: readonly CapturedEvent[]): Moved[] => without(this.#moved, movedIn(events));

  #begin(): JsonObject {
    return isObject(this.#rest) ? (copy(this.#rest) as JsonObject) : {};
  }

  /** Several places may give the same events. The ones that the agent uses come first; lists of bare texts are rare. */
  #inOrder(record: JsonObject, places: readonly Path[]): Path[] {
    const isElement = (path: Path) => typeof path.at(-1) === 'number';
    const preferred = (this.#agent.restored?.places?.(record, this.#events) ?? []).flatMap((pattern) => [
      ...places.filter((path) => path.join('.').replace(/\.\d+(?=\.|$)/g, '.*') === pattern),
      ...expand(record, pattern),
    ]);
    return [...preferred, ...places.filter((path) => !isElement(path)), ...places.filter(isElement)];
  }

  #attempt(unstamped: JsonObject): Attempt {
    const version = this.#events[0]?.payload.source.agentVersion;
    const record = this.#agent.restored?.stamp?.(unstamped, this.#place, version) ?? unstamped;
    const { result: events, places } = watchPlaces(() => this.#agent.parse(copy(record) as JsonObject, this.#place));
    return { record, events, places, faults: this.#countFaults(events) };
  }

  /** How much these events differ from the captured ones. */
  #countFaults(events: readonly CapturedEvent[]): number {
    const found = movedIn(events);
    const differing = without(this.#moved, found).length + without(found, this.#moved).length;
    return (
      differing +
      Math.max(0, this.#countSwaps(found) - this.#countSwaps(this.#moved)) +
      (isDeepStrictEqual(restIn(events), this.#rest) ? 0 : 1)
    );
  }

  /** How often a value comes before one that it should follow. */
  #countSwaps(found: readonly Moved[]): number {
    const order = new Map(this.#moved.map((one, index) => [nameOf(one), index]));
    const indexes = found.map((one) => order.get(nameOf(one))).filter((index) => index !== undefined);
    return indexes.filter((index, at) => index < (indexes[at - 1] ?? 0)).length;
  }
}

const isWhole = ({ value }: Moved): boolean => isObject(value);

/** Fields that place and reading give an event, and not its record. */
const GIVEN = new Set(['source', 'rest', 'redactions']);

function movedIn(events: readonly CapturedEvent[]): Moved[] {
  const [first] = events;
  if (first === undefined) return [];
  const { record, parent, revision, subagent } = first.payload.source;
  const ofRecord = Object.entries({ record, parent, revision, subagent, occurredAt: first.payload.occurredAt });
  const moved: Moved[] = ofRecord.flatMap(([field, value]) =>
    value === undefined ? [] : [{ slot: field, field, value }],
  );
  for (const [index, { eventType, payload }] of events.entries()) {
    moved.push({ slot: `${index}`, field: 'eventType', value: `${index} ${eventType}` });
    for (const [name, value] of Object.entries(payload)) {
      if (GIVEN.has(name) || name === 'occurredAt') continue;
      moved.push({ slot: `${index} ${name}`, field: `${eventType} ${name}`, value });
    }
  }
  return moved;
}

const restIn = ([first]: readonly CapturedEvent[]): unknown => first?.payload.rest;

const nameOf = ({ field, value }: Moved) => `${field} ${JSON.stringify(value)}`;

/** The values of some that have no equal in others. */
function without(some: readonly Moved[], others: readonly Moved[]): Moved[] {
  const left = new Map<string, number>();
  for (const one of others) left.set(nameOf(one), (left.get(nameOf(one)) ?? 0) + 1);
  return some.filter((one) => {
    const count = left.get(nameOf(one)) ?? 0;
    left.set(nameOf(one), count - 1);
    return count <= 0;
  });
}

/** Events of equal form most likely come from records of equal form. */
function formOf(events: readonly CapturedEvent[]): string {
  const shapes = events.map(({ eventType, payload }) => {
    const { source, rest, redactions: _, ...fields } = payload;
    const { record, parent } = source;
    return [eventType, record !== undefined, parent !== undefined, Object.keys(fields), skeletonOf(rest, 4)];
  });
  return JSON.stringify(shapes);
}

/** The keys of a value, and its words for kinds. */
function skeletonOf(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return depth === 0 ? value.length : value.map((inner) => skeletonOf(inner, depth - 1));
  if (!isObject(value)) return 0;
  if (depth === 0) return 1;
  return Object.entries(value).map(([key, inner]) =>
    key === 'type' || key === 'role' || key === 'kind' ? [key, inner] : [key, skeletonOf(inner, depth - 1)],
  );
}

/**
 * The places of a pattern. An element from which a parser took everything has left its list, so `*` is a new element. Its place
 * is the complement of the index that it gets.
 */
function expand(record: JsonObject, pattern: string): Path[] {
  const star = pattern.indexOf('.*');
  if (star < 0) return [toPath(pattern)];
  const [list, inside] = [toPath(pattern.slice(0, star)), toPath(pattern.slice(star + '.*.'.length))];
  const found = list.reduce<unknown>((value, key) => (value as JsonObject | undefined)?.[String(key)], record);
  const length = Array.isArray(found) ? found.length : 0;
  return Array.from({ length: length + 1 }, (_, index) => [...list, ~index, ...inside]);
}

/**
 * The value with another at a place, with the objects and lists around it. Two objects become one. An element moves the later
 * elements of its list. Undefined if the place is taken.
 */
function put(target: unknown, path: Path, value: unknown): JsonObject | undefined {
  const done = insert(target, path, value);
  return isObject(done) ? done : undefined;
}

function insert(target: unknown, [key, ...further]: Path, value: unknown): unknown {
  if (key === undefined) return target === undefined ? value : join(target, value);
  if (typeof key === 'number') {
    const list = target === undefined ? [] : target;
    if (!Array.isArray(list) || key > list.length) return undefined;
    if (key < 0) return list.toSpliced(~key, 0, insert(undefined, further, value));
    if (further.length === 0 && !(isObject(list[key]) && isObject(value))) return list.toSpliced(key, 0, value);
    const inner = insert(list[key], further, value);
    return inner === undefined ? undefined : list.toSpliced(key, 1, inner);
  }
  const object = target === undefined ? {} : target;
  if (!isObject(object)) return undefined;
  const inner = insert(Object.hasOwn(object, key) ? object[key] : undefined, further, value);
  return inner === undefined ? undefined : withMember(object, key, inner);
}

function join(one: unknown, other: unknown): unknown {
  if (!isObject(one) || !isObject(other)) return undefined;
  let joined: JsonObject = one;
  for (const [key, value] of Object.entries(other)) {
    const inner = Object.hasOwn(joined, key) ? join(joined[key], value) : value;
    if (inner === undefined) return undefined;
    joined = withMember(joined, key, inner);
  }
  return joined;
}

/** The object with a member, at its place or at the end. Any name is possible, also `__proto__`. */
const withMember = (object: JsonObject, key: string, value: unknown): JsonObject =>
  Object.fromEntries(new Map(Object.entries(object)).set(key, value));

/** A copy that a parser may take apart. Exact numbers stay as they are. */
export function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copy(inner)]));
}
