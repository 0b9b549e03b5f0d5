import { applyPatch, structuredPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import { changesOfCall } from '../../../transcript/entry/changes.ts';
import { buildTimeline } from './build.ts';
import { mayChangeFiles, readChangedFiles } from './changed-files.ts';
import { cumulate, type Step } from './cumulate.ts';
import { call, entriesOf, result } from './test/events.ts';

const write = (sequence: number, content: string): Step => ({
  sequence,
  change: changesOfCall('Write', { file_path: '/a', content })[0] as Step['change'],
});
const edit = (sequence: number, old_string: string, new_string: string, before?: string): Step => ({
  sequence,
  change: changesOfCall('Edit', { file_path: '/a', old_string, new_string })[0] as Step['change'],
  ...(before !== undefined && { before }),
});

describe('the total difference of a file', () => {
  test('leaves out lines that were added and removed again, and names the writers of the others', () => {
    const hunks = cumulate([write(1, 'one\ntwo\nthree\n'), edit(4, 'two', 'zwei'), edit(9, 'zwei', '2')]);
    expect(hunks).toEqual([{ oldStart: 1, newStart: 1, lines: ['+one', '+2', '+three'], sequences: [1, 9] }]);
  });

  test('is computed from the file that the agent recorded, and includes changes by others in between', () => {
    const steps = [edit(1, 'b', 'B', 'a\nb\nc\n'), edit(2, 'c', 'C', 'a\nB\nx\nc\n')];
    expect(cumulate(steps)).toMatchObject([{ lines: [' a', '-b', '-c', '+B', '+x', '+C'], sequences: [1, 2] }]);
  });

  test('is unknown if the file before is unknown or if an edit does not fit', () => {
    expect(cumulate([edit(1, 'a', 'b')])).toBeUndefined();
    expect(cumulate([write(1, 'one\n'), edit(2, 'two', 'three')])).toBeUndefined();
    expect(cumulate([])).toBeUndefined();
  });

  test('is not computed for a file that was replaced, which would take seconds, but for a long new file', () => {
    const lines = (of: string) => Array.from({ length: 3_000 }, (_, n) => `${of}${n}\n`).join('');
    const steps = [edit(1, lines('a'), lines('b'), lines('a'))];
    expect(cumulate(steps)).toBeUndefined();
    expect(cumulate([write(1, lines('a'))])).toHaveLength(1);
  });

  test('turns the first file into the last one for any edits', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 12 })
      .map((each) => each.join('\n'));
    fc.assert(
      fc.property(fc.array(text, { minLength: 2, maxLength: 5 }), (versions) => {
        const [first = '', ...others] = versions.map((each) => `${each}\n`);
        let before = first;
        const steps = others.map((after, index): Step => {
          const { hunks } = structuredPatch('', '', before, after, undefined, undefined, { context: 3 });
          const step: Step = { sequence: index + 1, change: { path: '/a', kind: 'update', hunks }, before };
          before = after;
          return step;
        });
        const [{ before: _, ...start }, ...rest] = steps as [Step, ...Step[]];
        const hunks = cumulate([{ ...start, before: first }, ...rest.map(({ before: __, ...step }) => step)]);
        const patch = hunks?.map(({ lines, oldStart = 1, newStart = 1 }) => ({
          ...{ oldStart, newStart, lines },
          oldLines: lines.filter((line) => !line.startsWith('+')).length,
          newLines: lines.filter((line) => !line.startsWith('-')).length,
        }));
        if (patch) expect(applyPatch(first, { hunks: patch } as never)).toBe(others.at(-1));
      }),
      runs(200),
    );
  });
});

describe('changed files', () => {
  const changes = (...all: object[]) => ({ detail: { changes: Object.assign({}, ...all) } });

  test('are listed once each, under their last name, with the turns of their changes', () => {
    const timeline = buildTimeline(
      entriesOf(
        ['user.message', { text: 'One' }],
        call('a', 'Write', { file_path: '/a.ts', content: 'x\ny\n' }),
        result('a'),
        ['user.message', { text: 'Two' }],
        call('b', 'apply_patch'),
        result('b', changes({ '/a.ts': { type: 'update', unified_diff: '@@ -1 +1 @@\n-x\n+z', move_path: '/b.ts' } })),
        call('c', 'Edit', { file_path: '/b.ts', old_string: 'z', new_string: 'w' }),
      ),
    );
    expect(readChangedFiles(timeline).files).toMatchObject([
      {
        path: '/b.ts',
        formerly: ['/a.ts'],
        isNew: true,
        added: 4,
        removed: 2,
        edits: [{ turn: 0 }, { turn: 1 }, { turn: 1 }],
      },
    ]);
  });

  test('include commands that may have changed files', () => {
    const timeline = buildTimeline(
      entriesOf(call('a', 'Bash', { command: 'sed -i s/a/b/ x' }), call('b', 'Bash', { command: 'ls' })),
    );
    expect(readChangedFiles(timeline).commands).toMatchObject([{ sequence: 1 }]);
  });

  test.each([
    'echo a > b.txt',
    'cat <<EOF >> x',
    'git checkout main',
    'npm install left-pad',
    'rm -r dist',
    'biome check --write .',
    'cd x && mv a b',
  ])('%s may change files', (command) => expect(mayChangeFiles(command)).toBe(true));
  test.each([
    'ls -la',
    'git status',
    'git log --oneline',
    'npm test 2>&1 | tail',
    'grep -r a > /dev/null',
    'test 1 -ge 0 && a=>b',
  ])('%s does not', (command) => expect(mayChangeFiles(command)).toBe(false));
});
