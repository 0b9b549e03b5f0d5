import { expect, test } from 'vitest';
import { buildTimeline } from './build.ts';
import { type ChangedFile, readChangedFiles } from './changed-files.ts';
import { type Folder, filesOf, toTree } from './file-tree.ts';
import { entriesOf, type Given } from './test/events.ts';

const changed = (path: string): ChangedFile => ({
  ...{ path, formerly: [], edits: [], added: 0, removed: 0, isNew: false, isGone: false },
});

test('files are below their folders, and a folder with only a folder in it is merged with it', () => {
  const paths = ['/w/readme.md', '/w/src/app/view/b.ts', '/w/src/app/view/a.ts', '/w/src/app/model/m.ts', '/etc/hosts'];
  const tree = toTree(paths.map(changed), '/w');
  const draw = ({ name, folders, files }: Folder): unknown => [name, folders.map(draw), files.map((each) => each.name)];
  expect(draw(tree)).toEqual([
    '',
    [
      ['/etc', [], ['hosts']],
      [
        'src/app',
        [
          ['model', [], ['m.ts']],
          ['view', [], ['a.ts', 'b.ts']],
        ],
        [],
      ],
    ],
    ['readme.md'],
  ]);
  expect(filesOf(tree).map(({ path }) => path)).toEqual([paths[4], paths[3], paths[2], paths[1], paths[0]]);
});

test('the reason of an edit is the last message of the agent that made it', () => {
  const edit = (callId: string, path: string, source = {}): Given => [
    'tool.call',
    { callId, name: 'Edit', input: { file_path: path, old_string: 'a', new_string: 'b' }, source },
  ];
  const events: Given[] = [
    ['user.message', { text: 'Mend it' }],
    edit('one', '/one'),
    ['assistant.message', { text: '**Now** the second\nand more' }],
    ['tool.call', { callId: 'task', name: 'Task', input: { description: 'Help', prompt: 'Help' } }],
    ['context.message', { kind: 'subagent-prompt', text: 'Help', source: { subagent: 'a' } }],
    ['assistant.message', { text: 'I help', source: { subagent: 'a' } }],
    edit('helped', '/helped', { subagent: 'a' }),
    edit('two', '/two'),
  ];
  const { files } = readChangedFiles(buildTimeline(entriesOf(...events)));
  expect(files.map(({ path, edits }) => [path, edits[0]?.reason]).sort()).toEqual([
    ['/helped', { sequence: 6, text: 'I help' }],
    ['/one', { sequence: 1, text: 'Mend it' }],
    ['/two', { sequence: 3, text: 'Now the second' }],
  ]);
});
