import { isDeepStrictEqual } from 'node:util';
import { applyEdits, type JSONPath, modify, type ParseError, parse, visit } from 'jsonc-parser';
import type { AgentHooks, JsonObject } from '../agents/agent.ts';

/** Why a text cannot be edited. The message is half a sentence about the file. */
export class NotEditable extends Error {}

/** Whether a command line runs one of our scripts. */
export type IsOurs = (command: string) => boolean;

interface Settings extends JsonObject {
  hooks?: { [event: string]: unknown[] };
}

/**
 * Adds our entry at the end of each list of a JSON text with or without comments, and removes our other entries. Throws
 * `NotEditable` if anything else would change, or if a comment would be lost.
 */
export function addEntries(
  text: string,
  { root = {}, events, entry }: AgentHooks,
  command: string,
  isOurs: IsOurs,
): string {
  const before = text.trim() === '' ? '{}\n' : text;
  const value = entry(command);
  const start = removeEntries(before, isOurs);
  const expected = parseSettings(start);
  let after = start;
  for (const [name, member] of Object.entries(root)) {
    if (name in expected) continue;
    expected[name] = member;
    after = edit(after, [name], member);
  }
  expected.hooks ??= {};
  for (const event of events) {
    const { [event]: list = [] } = expected.hooks;
    if (!Array.isArray(list)) throw new NotEditable(`its "hooks.${event}" is not a list`);
    after = edit(after, ['hooks', event, -1], value);
    expected.hooks[event] = [...list, value];
  }
  if (isDeepStrictEqual(expected, parseSettings(before))) return text;
  // An edit that cannot be undone is not made.
  removeEntries(checked(after, start, expected), isOurs);
  return after;
}

/** Removes our entries, and the lists that become empty. Throws `NotEditable` like `addEntries`. */
export function removeEntries(text: string, isOurs: IsOurs): string {
  const expected = parseSettings(text);
  const { hooks = {} } = expected;
  let after = text;
  for (const [event, list] of Object.entries(hooks)) {
    if (!Array.isArray(list)) continue;
    const ours = [...list.keys()].filter((index) => runsOurs(list[index], isOurs));
    if (ours.length === 0) continue;
    for (const index of ours.toReversed()) after = edit(after, ['hooks', event, index], undefined);
    hooks[event] = list.filter((_, index) => !ours.includes(index));
    if (hooks[event].length > 0) continue;
    after = edit(after, ['hooks', event], undefined);
    delete hooks[event];
  }
  if (after === text) return text;
  if (Object.keys(hooks).length === 0) {
    after = edit(after, ['hooks'], undefined);
    delete expected.hooks;
  }
  return checked(after, text, expected);
}

function runsOurs(item: unknown, isOurs: IsOurs): boolean {
  return isObject(item) && typeof item.command === 'string' && isOurs(item.command);
}

/** The object that a text contains. Throws `NotEditable` if it contains no object, or if its member `hooks` is no object. */
function parseSettings(text: string): Settings {
  const errors: ParseError[] = [];
  const value: unknown = parse(text.trim() === '' ? '{}' : text, errors, { allowTrailingComma: true });
  if (errors.length > 0) throw new NotEditable('it is not valid JSON');
  if (!isObject(value)) throw new NotEditable('it does not contain a JSON object');
  if (value.hooks !== undefined && !isObject(value.hooks)) throw new NotEditable('its "hooks" is not an object');
  return value as Settings;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function edit(text: string, path: JSONPath, value: unknown): string {
  const indentation = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  const formattingOptions = {
    insertSpaces: !indentation.startsWith('\t'),
    tabSize: indentation.startsWith('\t') ? 4 : indentation.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  return applyEdits(text, modify(text, path, value, { formattingOptions }));
}

/**
 * Checks the result, because the editor makes mistakes with commas and comments in unusual places. Then a person must edit
 * the file.
 */
function checked(after: string, before: string, expected: Settings): string {
  if (!isDeepStrictEqual(parseSettings(after), expected) || !isDeepStrictEqual(comments(after), comments(before))) {
    throw new NotEditable('it cannot be edited without other changes');
  }
  return after;
}

function comments(text: string): string[] {
  const all: string[] = [];
  visit(text, { onComment: (offset, length) => void all.push(text.slice(offset, offset + length)) });
  return all;
}
