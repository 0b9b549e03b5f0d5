import { expect, test } from 'vitest';
import { type Event, factsOf } from '../test/folded.ts';
import { type Value, valuesOf } from './values.ts';

const call = (name: string, input: object): Event => ['tool.call', { callId: name, name, input }, 1];

const rowsOf = (...events: Event[]): Value[] => [...valuesOf(factsOf(...events)).values()];

test('a file that a session read and edited has one row of values', () => {
  const rows = rowsOf(
    call('Read', { file_path: '/shop/src/Queue.ts' }),
    call('Edit', { file_path: '/shop/src/Queue.ts', old_string: 'a', new_string: 'b' }),
    ['tool.result', { callId: 'Edit', output: 'done' }, 2],
    call('Read', { file_path: '/shop/src/retry.ts' }),
  );
  expect(rows.filter(({ name }) => name.endsWith('.ts'))).toEqual([
    { field: 'file', name: 'retry.ts', path: '/shop/src/retry.ts' },
    { field: 'edited', name: 'queue.ts', path: '/shop/src/Queue.ts' },
  ]);
});

test('a value that is not a path is stored once, in lower case', () => {
  const rows = rowsOf(call('Bash', { command: 'Make release' }));
  expect(rows).toContainEqual({ field: 'command', name: 'make release', path: '' });
  expect(rows).toContainEqual({ field: 'tool', name: 'bash', path: '' });
});
