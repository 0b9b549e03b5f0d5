import { firstLine } from '../../../transcript/entry/value.ts';
import type { Timeline } from './build.ts';
import { childrenOf, type Item, type ToolItem } from './items.ts';

/** A call that changed one or more files. */
export interface Edit {
  item: ToolItem;
  /** Index of its turn, from 0. */
  turn: number;
  /** The last message before the edit: from the agent that made it, or else the prompt. */
  reason?: { sequence: number; text: string };
}

/** A changed file under its final name. */
export interface ChangedFile {
  path: string;
  /** Its earlier names. */
  formerly: readonly string[];
  edits: readonly Edit[];
  added: number;
  removed: number;
  isNew: boolean;
  isGone: boolean;
}

export interface ChangedFiles {
  files: readonly ChangedFile[];
  /** Commands that may have changed files. Their changes were not recorded. */
  commands: readonly ToolItem[];
}

type Growing = { -readonly [Name in keyof ChangedFile]: ChangedFile[Name] } & { formerly: string[]; edits: Edit[] };

/** Each file once, in the order of the first changes. */
export function readChangedFiles({ turns }: Pick<Timeline, 'turns'>): ChangedFiles {
  const byPath = new Map<string, Growing>();
  const files: Growing[] = [];
  const commands: ToolItem[] = [];
  const fileAt = (path: string): Growing => {
    const known = byPath.get(path);
    if (known) return known;
    const file: Growing = { path, formerly: [], edits: [], added: 0, removed: 0, isNew: false, isGone: false };
    files.push(file);
    byPath.set(path, file);
    return file;
  };
  const take = (item: ToolItem, turn: number, reason: Edit['reason']) => {
    for (const { path, kind, movedTo, added, removed } of item.changes) {
      const file = fileAt(path);
      if (file.edits.length === 0) file.isNew = kind === 'create' && removed === 0;
      if (file.edits.at(-1)?.item !== item) file.edits.push({ item, turn, ...(reason && { reason }) });
      file.added += added;
      file.removed += removed;
      file.isGone = kind === 'delete';
      if (movedTo === undefined || movedTo === path) continue;
      file.formerly.push(path);
      file.path = movedTo;
      byPath.delete(path);
      byPath.set(movedTo, file);
    }
    if (item.changes.length === 0 && mayChangeFiles(item.call?.about ?? '')) commands.push(item);
  };
  for (const [turn, { items }] of turns.entries()) {
    const visitAll = (all: readonly Item[], before: Edit['reason']) => {
      let said = before;
      for (const item of all) {
        said = wordsOf(item) ?? said;
        if (item.kind === 'tool') take(item, turn, said);
        // A message of a sub-agent is a reason for its own edits only.
        if (item.kind !== 'quiet') visitAll(childrenOf(item), said);
      }
    };
    visitAll(items, undefined);
  }
  return { files, commands };
}

function wordsOf(item: Item): Edit['reason'] {
  if (item.kind !== 'message' || (item.entry.kind !== 'answer' && item.entry.kind !== 'prompt')) return undefined;
  const text = firstLine(item.entry.text).replace(/^#{1,6}\s+|[*`]/g, '');
  return text === '' ? undefined : { sequence: item.sequence, text };
}

/** Redirections into files, editors that work in place, and commands that move, remove or restore files. */
const CHANGING = [
  /(?:^|[^0-9>=&-])>>?\s*(?!\/dev\/|&)[\w./~"'$]/,
  /\b(?:sed|perl)\s+(?:-\w+\s+)*-\w*i/,
  /(?:^|[;&|(]\s*)(?:mv|rm|cp|touch|mkdir|rmdir|ln|patch|tee|truncate|unzip)\s/,
  /\bgit\s+(?:[-\w./=]+\s+){0,3}(?:checkout|restore|reset|stash|apply|am|merge|rebase|pull|cherry-pick|revert|clean|mv|rm)\b/,
  /\b(?:npm|pnpm|yarn|bun|pip|cargo|go|gem|poetry|uv)\s+(?:install|i|ci|add|remove|uninstall|update|upgrade|init|get|mod|fmt)\b/,
  /(?:--write|--fix|--in-place)\b/,
];

export const mayChangeFiles = (command: string): boolean => CHANGING.some((pattern) => pattern.test(command));
