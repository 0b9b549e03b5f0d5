import type { Budget } from './budget.ts';
import { looksLikeJson, mapJsonStrings } from './json-text.ts';
import { isMasked } from './mark.ts';
import { createNameReader } from './names.ts';
import type { Count, TextRedactor } from './text.ts';
import { isSecretInField } from './values.ts';

type Json = { [key: string]: unknown };

/** JSON text within JSON text within …; what lies deeper is masked as plain text. */
const JSON_DEPTH = 4;
const ROUNDS = 4;

interface Task {
  from: object;
  to: object;
  name: string | undefined;
}

/** Masks every string of a JSON value: keys and values, at any depth, and inside JSON text. */
export function createPayloadRedactor(text: TextRedactor, budget: Budget) {
  const readName = createNameReader();

  function redactString(value: string, name: string | undefined, count: Count, depth = 0): string {
    budget.step();
    const strength = name === undefined ? undefined : readName(name);
    const found: string[] = [];
    const note: Count = (rule) => found.push(rule);
    let current = value;
    for (let round = 0; round < ROUNDS; round++) {
      let next = depth < JSON_DEPTH && looksLikeJson(current) ? redactJsonText(current, note, depth + 1) : current;
      next = text.redactText(next, note);
      if (strength !== undefined && !isMasked(next) && isSecretInField(next, strength)) {
        // All of the value is one secret, whatever was found in it.
        return text.redactValue(value, count);
      }
      if (next === current) break;
      current = next;
    }
    for (const rule of found) count(rule);
    return current;
  }

  function redactJsonText(value: string, count: Count, depth: number): string {
    return mapJsonStrings(
      value,
      (key) => text.redactText(key, count),
      (item, key) => redactString(item, key, count, depth),
      budget.step,
    );
  }

  /** A copy, made without recursion: a record may be nested deeper than the stack. */
  function redactJson(value: unknown, name: string | undefined, count: Count): unknown {
    const tasks: Task[] = [];
    const copy = (item: unknown, itemName: string | undefined): unknown => {
      budget.step();
      if (typeof item === 'string') return redactString(item, itemName, count);
      if (typeof item !== 'object' || item === null || isRawJson(item)) return item;
      const to = Array.isArray(item) ? [] : {};
      tasks.push({ from: item, to, name: itemName });
      return to;
    };
    const root = copy(value, name);
    for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
      if (Array.isArray(task.from)) copyArray(task.from, task.to as unknown[], task.name, copy);
      else copyObject(task.from as Json, task.to as Json, count, copy);
    }
    return root;
  }

  function copyArray(from: unknown[], to: unknown[], name: string | undefined, copy: Copy): void {
    for (const [index, item] of from.entries()) {
      const before = index === 0 ? undefined : to[index - 1];
      to.push(copy(item, nameBefore(before, from.length) ?? name));
    }
  }

  function copyObject(from: Json, to: Json, count: Count, copy: Copy): void {
    const keys = Object.keys(from);
    const masked = keys.map((key) => text.redactText(key, count));
    const names = separateKeys(keys, masked);
    const pairName = readPairName(from, (value) => redactString(value, undefined, () => {}));
    for (const [index, key] of keys.entries()) {
      const name = names[index] as string;
      const isPairValue = pairName !== undefined && /^value$/i.test(key);
      // Not an assignment: `__proto__` is a key like any other in JSON.
      Object.defineProperty(to, name, {
        value: copy(from[key], isPairValue ? pairName : name),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }

  return { redactString, redactJson };
}

type Copy = (item: unknown, name: string | undefined) => unknown;

/** Keys that mask to the same text get a number, so that each keeps its value. */
function separateKeys(keys: string[], masked: string[]): string[] {
  const taken = new Set(keys.filter((key, index) => masked[index] === key));
  return masked.map((name, index) => {
    if (name === keys[index]) return name;
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name} (${number})`;
    taken.add(free);
    return free;
  });
}

/** `["--password", "…"]` and `["authorization", "…"]`: the name stands before its value. */
function nameBefore(before: unknown, length: number): string | undefined {
  if (typeof before !== 'string') return undefined;
  return length === 2 || /^--?[a-z][\w-]{2,60}$/i.test(before) ? before : undefined;
}

/** `{ "name": "API_KEY", "value": "…" }`, as containers and editors list their environment. */
function readPairName(object: Json, mask: (value: string) => string): string | undefined {
  const name = object.name ?? object.key ?? object.Name ?? object.Key;
  return typeof name === 'string' && name.length < 100 ? mask(name) : undefined;
}

type RawJson = { isRawJSON?: (value: unknown) => boolean };

/** Numbers kept exactly as they were written; they have no strings in them. */
function isRawJson(value: object): boolean {
  return (JSON as RawJson).isRawJSON?.(value) === true;
}
