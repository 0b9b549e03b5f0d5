export interface Hunk {
  oldStart?: number;
  newStart?: number;
  /** The agent's text after the `@@`. */
  section?: string;
  /** Each line begins with its `+`, `-` or space. */
  lines: string[];
}

/** What a tool did to a file. */
export interface FileChange {
  path: string;
  kind: 'create' | 'update' | 'delete';
  movedTo?: string;
  hunks: readonly Hunk[];
}

const FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const KINDS = { Add: 'create', Update: 'update', Delete: 'delete' } as const;

/** Reads the patches of Codex's `apply_patch` anywhere in a text, such as the heredoc of a shell command. */
export function readApplyPatch(text: string): FileChange[] {
  const begin = text.indexOf('*** Begin Patch');
  if (begin < 0) return [];
  const end = text.indexOf('*** End Patch', begin);
  const body = text.slice(begin, end < 0 ? undefined : end);
  const lines = body.split(/\r?\n/);
  const changes: { path: string; kind: FileChange['kind']; hunks: Hunk[]; movedTo?: string }[] = [];
  for (const line of lines) {
    const change = changes.at(-1);
    const [, verb, path] = FILE.exec(line) ?? [];
    if (verb && path) {
      const kind = KINDS[verb as keyof typeof KINDS];
      changes.push({ path: path.trim(), kind, hunks: kind === 'create' ? [{ lines: [] }] : [] });
    } else if (change && line.startsWith('*** Move to: ')) change.movedTo = line.slice(13).trim();
    else if (change && line.startsWith('@@')) change.hunks.push(newHunk(line));
    else if (change && /^[-+ ]/.test(line)) {
      if (change.hunks.length === 0) change.hunks.push({ lines: [] });
      change.hunks.at(-1)?.lines.push(line);
    }
  }
  return changes;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)/;

function newHunk(line: string): Hunk {
  const [, oldStart, newStart] = HUNK.exec(line) ?? [];
  const section = line.replace(/^@@( -[\d,]+ \+[\d,]+ @@)? ?/, '').trim();
  return {
    lines: [],
    ...(oldStart && newStart && { oldStart: Number(oldStart), newStart: Number(newStart) }),
    ...(section && { section }),
  };
}

/** The hunks of a unified diff. */
export function readUnifiedDiff(diff: string): Hunk[] {
  const hunks: Hunk[] = [];
  for (const line of diff.split(/\r?\n/)) {
    if (line.startsWith('@@')) hunks.push(newHunk(line));
    else if (/^[-+ ]/.test(line)) hunks.at(-1)?.lines.push(line);
  }
  return hunks;
}
