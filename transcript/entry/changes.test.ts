import { describe, expect, test } from 'vitest';
import { changesOfCall, changesOfResult, statOf } from './changes.ts';

const PATCH = `*** Begin Patch
*** Update File: src/queue.ts
*** Move to: src/line.ts
@@ drain() {
 const a = 1;
-const b = 2;
+const b = 3;
+const c = 4;
*** Add File: docs/new.md
+# New
*** Delete File: old.ts
*** End Patch`;

const stats = [
  { path: 'src/queue.ts', kind: 'update', movedTo: 'src/line.ts', added: 2, removed: 1 },
  { path: 'docs/new.md', kind: 'create', added: 1, removed: 0 },
  { path: 'old.ts', kind: 'delete', added: 0, removed: 0 },
];

describe('the intended changes of a call', () => {
  test.each([
    ['a patch as the whole input', 'apply_patch', PATCH],
    ['in a field', 'apply_patch', { input: PATCH }],
    ['in a field of OpenCode', 'patch', { patchText: PATCH }],
    ['in a shell command', 'shell', { cmd: `apply_patch <<'EOF'\n${PATCH}\nEOF` }],
    ['in arguments as JSON text', 'shell', JSON.stringify({ command: `apply_patch <<'EOF'\n${PATCH}\nEOF` })],
    ['in a script', 'exec', `const patch = ${JSON.stringify(PATCH)};\ntext(await tools.apply_patch(patch));`],
  ])('%s', (_, name, input) => {
    expect(changesOfCall(name, input).map(statOf)).toEqual(stats);
  });

  test('an edit of a part', () => {
    const input = { file_path: '/a.ts', old_string: 'one\ntwo\nthree', new_string: 'one\n2\nthree' };
    const changes = changesOfCall('Edit', input);
    expect(changes.map(statOf)).toEqual([{ path: '/a.ts', kind: 'update', added: 1, removed: 1 }]);
    expect(changes[0]?.hunks[0]?.lines).toEqual([' one', '-two', '+2', ' three']);
  });

  test('several edits at once, and a whole file', () => {
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: '', new_string: 'c\nd' },
    ];
    expect(changesOfCall('MultiEdit', { file_path: '/a.ts', edits }).map(statOf)).toMatchObject([
      { added: 3, removed: 1 },
    ]);
    expect(changesOfCall('Write', { file_path: '/a.ts', content: 'x\ny\n' }).map(statOf)).toMatchObject([
      { kind: 'create', added: 2 },
    ]);
  });

  test('all lines removed and added, if the comparison would take seconds', () => {
    const numbers = (of: string) => Array.from({ length: 500 }, (_, n) => `${of}${n}\nkept`).join('\n');
    const large = { old_string: numbers('a'), new_string: numbers('b') };
    const small = { old_string: 'a\nkept', new_string: 'b\nkept' };
    const keptOf = (edits: readonly unknown[]) =>
      changesOfCall('MultiEdit', { file_path: '/a.ts', edits }).flatMap(({ hunks }) =>
        hunks.map(({ lines }) => lines.filter((line) => line === ' kept').length),
      );
    expect(keptOf([large, small])).toEqual([0, 1]);
    expect(keptOf([large, large, large, small])).toEqual([0, 0, 0, 0]);
    expect(changesOfCall('MultiEdit', { file_path: '/a.ts', edits: [large] }).map(statOf)).toMatchObject([
      { added: 1_000, removed: 1_000 },
    ]);
  });

  test('nothing, for other tools and odd inputs', () => {
    const inputs = [undefined, null, 7, '', [], { file_path: 7 }, { file_path: '/a', edits: 'none' }];
    expect(inputs.flatMap((input) => changesOfCall('Edit', input))).toEqual([]);
    expect(changesOfCall('Read', { file_path: '/a', content: 'x' })).toEqual([]);
  });
});

describe('the actual changes of a call', () => {
  test("Claude Code's structured patch", () => {
    const structuredPatch = [{ oldStart: 3, newStart: 3, lines: [' a', '-b', '+c', '\\ No newline at end of file'] }];
    expect(changesOfResult({ filePath: '/a.ts', structuredPatch })).toEqual([
      { path: '/a.ts', kind: 'update', hunks: [{ oldStart: 3, newStart: 3, lines: [' a', '-b', '+c'] }] },
    ]);
    expect(
      changesOfResult({ type: 'create', filePath: '/a', structuredPatch: [], content: 'x\n' }).map(statOf),
    ).toEqual([{ path: '/a', kind: 'create', added: 1, removed: 0 }]);
  });

  test('no line, if a file was written unchanged', () => {
    const written = { type: 'update', filePath: '/a', structuredPatch: [], content: 'x\n' };
    const unchanged = [{ path: '/a', kind: 'update', added: 0, removed: 0 }];
    expect(changesOfResult(written).map(statOf)).toEqual(unchanged);
    expect(changesOfResult({ ...written, originalFile: 'x\n' }).map(statOf)).toEqual(unchanged);
    // The program gave up the comparison, so the intended changes of the call remain.
    expect(changesOfResult({ ...written, originalFile: 'y\n' })).toEqual([]);
  });

  test("Codex's changes by path", () => {
    const changes = {
      'a.ts': { type: 'update', unified_diff: '@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n', move_path: 'b.ts' },
      'c.ts': { type: 'add', content: 'x\n' },
      'd.ts': { type: 'delete', content: 'x\ny\n' },
      'e.ts': 'odd',
    };
    expect(changesOfResult({ changes }).map(statOf)).toEqual([
      { path: 'a.ts', kind: 'update', movedTo: 'b.ts', added: 2, removed: 1 },
      { path: 'c.ts', kind: 'create', added: 1, removed: 0 },
      { path: 'd.ts', kind: 'delete', added: 0, removed: 2 },
    ]);
  });

  test('nothing, for anything else', () => {
    expect([undefined, null, 'text', [], { changes: [] }, { filePath: 1 }].flatMap(changesOfResult)).toEqual([]);
  });
});
