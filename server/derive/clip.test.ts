import { expect, test } from 'vitest';
import { type Event, entriesOf } from '../test/folded.ts';

const result = (output: string, exitCode: number): Event => ['tool.result', { callId: 'a', output, exitCode }];

test('an entry has the beginning of the output of a call that failed, and none of the output of another call', () => {
  const [done, failed] = entriesOf([result('all is well', 0), result(`no such file${' '.repeat(2_000)}`, 1)]);
  expect(done).toMatchObject({ kind: 'result', failed: false, preview: '' });
  expect(failed).toMatchObject({ kind: 'result', failed: true, preview: `no such file${' '.repeat(288)}` });
});
