import { structuredPatch } from 'diff';
import { commandOf } from './command.ts';
import { type FileChange, type Hunk, readApplyPatch, readUnifiedDiff } from './patch.ts';
import { callsOf } from './script.ts';
import { asArray, asNumber, asObject, asParsedObject, asText, type Loose } from './value.ts';

/** A change without its lines. */
export interface FileStat {
  path: string;
  kind: FileChange['kind'];
  movedTo?: string;
  added: number;
  removed: number;
}

const EDITORS = new Set([
  'edit',
  'write',
  'multiedit',
  'create',
  'str_replace_editor',
  'write_file',
  'replace',
  'edit_file',
]);

/** The intended changes of a call, as far as its input contains them. */
export const changesOfCall = (name: string, input: unknown): FileChange[] =>
  callsOf(name, input).flatMap((call) => changesOf(call.name, call.input));

function changesOf(name: string, input: unknown): FileChange[] {
  const { input: text, patch, patchText } = asParsedObject(input);
  for (const source of [asText(text), asText(patch), asText(patchText), commandOf(input), asText(input)]) {
    if (source?.includes('*** Begin Patch')) return readApplyPatch(source);
  }
  return EDITORS.has(name.toLowerCase()) ? changesOfEditor(asParsedObject(input)) : [];
}

function changesOfEditor(input: Loose): FileChange[] {
  const path = asText(input.file_path) ?? asText(input.path) ?? asText(input.filePath);
  if (path === undefined) return [];
  const content = asText(input.content) ?? asText(input.file_text);
  if (content !== undefined) return [{ path, kind: 'create', hunks: [wholeFile(content, '+')] }];
  const edits = Array.isArray(input.edits) ? input.edits.map(asObject) : [input];
  let room = MAX_COMPARED;
  const hunks = edits.flatMap((edit) => {
    const [before, after] = [oldText(edit), newText(edit)];
    room -= before.length + after.length;
    return room < 0 ? replace(before, after) : compare(before, after);
  });
  return hunks.length > 0 ? [{ path, kind: 'update', hunks }] : [];
}

const oldText = (edit: Loose) => asText(edit.old_string) ?? asText(edit.oldString) ?? asText(edit.old_str) ?? '';
const newText = (edit: Loose) => asText(edit.new_string) ?? asText(edit.newString) ?? asText(edit.new_str) ?? '';

/** The most characters of a call that are compared. Beyond this, the comparison costs more than it is worth. */
const MAX_COMPARED = 20_000;
/** The most removed or added lines. The time grows with their square, and is 4 s for 10,000. */
const MAX_DIFFERENT = 400;

function compare(before: string, after: string): Hunk[] {
  if (before === after) return [];
  const patch = structuredPatch('', '', withEnd(before), withEnd(after), undefined, undefined, {
    context: 3,
    maxEditLength: MAX_DIFFERENT,
  });
  if (!patch) return replace(before, after);
  // The text is an excerpt, so its position in the file is unknown.
  return patch.hunks.map(({ lines }) => ({ lines: lines.filter((line) => !line.startsWith('\\')) }));
}

const replace = (before: string, after: string): Hunk[] =>
  before === after ? [] : [{ lines: [...wholeFile(before, '-').lines, ...wholeFile(after, '+').lines] }];

const withEnd = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

/** The actual changes of a call, from its result: Claude Code's structured patch, or Codex's changes by path. */
export function changesOfResult(detail: unknown): FileChange[] {
  const { filePath, structuredPatch: patch, type, content, originalFile = content, changes } = asObject(detail);
  const path = asText(filePath);
  if (path !== undefined && Array.isArray(patch)) {
    const hunks = patch.map(readHunk);
    if (hunks.length === 0 && type === 'create') {
      return [{ path, kind: 'create', hunks: [wholeFile(asText(content) ?? '', '+')] }];
    }
    // There are no hunks if the file was written unchanged, or if the comparison took too long.
    const isKnown = hunks.length > 0 || (type === 'update' && originalFile === content);
    return isKnown ? [{ path, kind: 'update', hunks }] : [];
  }
  return Object.entries(asObject(changes)).flatMap(([file, change]) => readChange(file, asObject(change)));
}

function readHunk(value: unknown): Hunk {
  const { oldStart, newStart, lines } = asObject(value);
  const [before, after] = [asNumber(oldStart), asNumber(newStart)];
  return {
    ...(before !== undefined && after !== undefined && { oldStart: before, newStart: after }),
    lines: asArray(lines).filter((line): line is string => typeof line === 'string' && /^[-+ ]/.test(line)),
  };
}

function readChange(path: string, change: Loose): FileChange[] {
  const movedTo = asText(change.move_path);
  const diff = asText(change.unified_diff);
  if (diff !== undefined) {
    return [{ path, kind: 'update', hunks: readUnifiedDiff(diff), ...(movedTo && { movedTo }) }];
  }
  const content = asText(change.content) ?? '';
  if (change.type === 'add') return [{ path, kind: 'create', hunks: [wholeFile(content, '+')] }];
  if (change.type === 'delete') return [{ path, kind: 'delete', hunks: [wholeFile(content, '-')] }];
  return [];
}

function wholeFile(content: string, sign: '+' | '-'): Hunk {
  const lines = content === '' ? [] : content.replace(/\n$/, '').split('\n');
  return { oldStart: sign === '+' ? 0 : 1, newStart: sign === '+' ? 1 : 0, lines: lines.map((line) => sign + line) };
}

export function statOf({ path, kind, movedTo, hunks }: FileChange): FileStat {
  let added = 0;
  let removed = 0;
  for (const { lines } of hunks) {
    for (const line of lines) {
      if (line.startsWith('+')) added++;
      else if (line.startsWith('-')) removed++;
    }
  }
  return { path, kind, ...(movedTo && { movedTo }), added, removed };
}
