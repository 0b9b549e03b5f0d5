import { looksLikeJson, mapJsonStrings } from './json-text.ts';
import { isMasked } from './mark.ts';
import { createNameReader } from './names.ts';
import type { Pass, TextRedactor } from './text.ts';
import { isSecretInField } from './values.ts';

type Json = { [key: string]: unknown };

/** The depth of JSON text within JSON text. Deeper text is masked as plain text. */
const JSON_DEPTH = 4;

/** Masks every string of a JSON value: keys and values, at any depth, and inside JSON text. */
export function createPayloadRedactor(text: TextRedactor) {
  const readName = createNameReader();

  function redactString(value: string, name: string | undefined, pass: Pass, depth = 0): string {
    const strength = name === undefined ? undefined : readName(name);
    if (strength === undefined) return redactInside(value, pass, depth);
    const found: [rule: string, secret: string][] = [];
    const inner = { ...pass, count: (...each: (typeof found)[number]) => found.push(each) };
    const masked = redactInside(value, inner, depth);
    // The whole value is one secret, even if parts of it were also found.
    if (!isMasked(masked, pass.session.isOwn) && isSecretInField(masked, strength, name))
      return text.redactValue(value, pass);
    for (const each of found) pass.count(...each);
    return masked;
  }

  function redactInside(value: string, pass: Pass, depth: number): string {
    const json = depth < JSON_DEPTH && looksLikeJson(value) ? redactJsonText(value, pass, depth + 1) : value;
    return text.redactText(json, pass);
  }

  function redactJsonText(value: string, pass: Pass, depth: number): string {
    return mapJsonStrings(
      value,
      (key) => text.redactText(key, pass),
      (item, key) => redactString(item, key, pass, depth),
    );
  }

  function redactItem(item: unknown, name: string | undefined, pass: Pass): unknown {
    if (typeof item === 'string') return redactString(item, name, pass);
    if (typeof item !== 'object' || item === null || isRawJson(item)) return item;
    return Array.isArray(item) ? redactArray(item, name, pass) : redactFields(item as Json, pass);
  }

  function redactArray(from: unknown[], name: string | undefined, pass: Pass): unknown[] {
    let to: unknown[] | undefined;
    for (let index = 0; index < from.length; index++) {
      const before = from[index];
      const after = redactItem(before, nameBefore(from, index) ?? name, pass);
      if (after !== before) to ??= from.slice(0, index);
      to?.push(after);
    }
    return to ?? from;
  }

  function redactFields(from: Json, pass: Pass): Json {
    const keys = Object.keys(from);
    const names = redactKeys(keys, pass);
    let values: unknown[] | undefined = names === keys ? undefined : [];
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string;
      const before = from[key];
      const isSecret = from.kind === 'Secret' && (key === 'data' || key === 'stringData');
      const after = isSecret
        ? redactSecrets(before, pass)
        : redactItem(before, pairName(from, key, pass) ?? names[index], pass);
      if (after !== before) values ??= keys.slice(0, index).map((earlier) => from[earlier]);
      values?.push(after);
    }
    // An assignment would not work: `__proto__` is a key like any other in JSON.
    return values === undefined ? from : Object.fromEntries(names.map((name, index) => [name, values[index]]));
  }

  /** The values of a Kubernetes secret, under any name. */
  function redactSecrets(data: unknown, pass: Pass): unknown {
    if (typeof data !== 'object' || data === null) return data;
    const masked = Object.entries(data as Json).map(([key, value]) => {
      const isText = typeof value === 'string' && value.length > 2 && !isMasked(value, pass.session.isOwn);
      return [key, isText ? text.redactValue(value, pass) : redactItem(value, key, pass)] as const;
    });
    return masked.every(([key, value]) => value === (data as Json)[key]) ? data : Object.fromEntries(masked);
  }

  function redactKeys(keys: string[], pass: Pass): string[] {
    let masked: string[] | undefined;
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string;
      const name = text.redactText(key, pass);
      if (name !== key) masked ??= keys.slice(0, index);
      masked?.push(name);
    }
    return masked === undefined ? keys : separateKeys(keys, masked);
  }

  /** `{ "name": "API_KEY", "value": "…" }`: containers and editors list their environment like this. */
  function pairName(object: Json, key: string, pass: Pass): string | undefined {
    if (key !== 'value' && key !== 'Value') return undefined;
    const name = object.name ?? object.key ?? object.Name ?? object.Key;
    return typeof name === 'string' && name.length < 100
      ? redactString(name, undefined, { ...pass, count() {} })
      : undefined;
  }

  return {
    /** A copy without secrets. Returns the value itself if there are none. */
    redactJson: (value: unknown, name: string | undefined, pass: Pass): unknown => redactItem(value, name, pass),
  };
}

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

/** `["--password", "…"]` and `["authorization", "…"]`: the name precedes its value. */
function nameBefore(items: unknown[], index: number): string | undefined {
  const before = items[index - 1];
  if (typeof before !== 'string') return undefined;
  return items.length === 2 || /^--?[a-z][\w-]{2,60}$/i.test(before) ? before : undefined;
}

type RawJson = { isRawJSON?: (value: unknown) => boolean };

/** Numbers that are kept exactly as they were written. They contain no strings. */
function isRawJson(value: object): boolean {
  return (JSON as RawJson).isRawJSON?.(value) === true;
}
