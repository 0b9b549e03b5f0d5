import { describe, expect, test } from 'vitest';
import { readOutput, resultText, runningOf } from './output.ts';

const script = (...blocks: string[]) =>
  ['Script completed\nWall time 0.2 seconds\nOutput:\n', ...blocks].map((text) => ({ type: 'input_text', text }));
const done = (output: string, exitCode = 0) => JSON.stringify({ chunk_id: 'a', exit_code: exitCode, output }, null, 2);

describe('the output of a script', () => {
  test.each([
    [script(done('ok\n')), { text: 'ok\n', exitCode: 0 }],
    [script(done('no', 2)), { text: 'no', exitCode: 2 }],
    [script('ok\n', 'exit=0'), { text: 'ok\n\nexit=0', exitCode: 0 }],
    [script('no', 'exit_code: 1'), { text: 'no\nexit_code: 1', exitCode: 1 }],
    [script(`[${done('a')},${done('b', 3)}]`), { text: 'a\nb', exitCode: 3 }],
    [script(`{"one":${done('a')},"two":${done('b')}}`), { text: 'a\nb', exitCode: 0 }],
    [script(`[{"status":"fulfilled","value":${done('a')}}]`), { text: 'a', exitCode: 0 }],
    [script('{"session_id":7,"output":"a"}'), { text: 'a', running: 'session 7' }],
    [script('{"output":"a","branch":"main"}'), { text: '{"output":"a","branch":"main"}' }],
    [script('{"exit_code":1'), { text: '{"exit_code":1' }],
    [script(), { text: '' }],
    ['Script completed\nWall time 0.4 seconds\nOutput:\n\nok', { text: 'ok' }],
    ['Script failed\nWall time 0.4 seconds\nOutput:\n\nno', { text: 'no', failed: true }],
    ['Script running with cell ID 12\nWall time 10.0 seconds\nOutput:\n', { text: '', running: 'cell 12' }],
  ])('%j', (output, expected) => {
    expect(readOutput(output)).toEqual(expected);
  });

  test('with a picture stays whole', () => {
    const output = [...script('a'), { type: 'input_image', image_url: 'data:' }];
    expect(readOutput(output).text).toBe('Script completed\nWall time 0.2 seconds\nOutput:\n\na\n[image]');
  });
});

describe('the end of a command in the output of its tool', () => {
  test.each([
    ['Chunk ID: 1a\nWall time: 1.0 seconds\nProcess exited with code 1\nOutput:\nno', { exitCode: 1 }],
    ['Wall time: 1.0 seconds\nProcess running with session ID 51\nOutput:\n', { running: 'session 51' }],
    ['Command running in background with ID: b50. Output is being written to: /tmp/x', { running: 'task b50' }],
    [
      '<retrieval_status>success</retrieval_status>\n\n<task_id>b50</task_id>\n\n<exit_code>2</exit_code>\n\n<output>\nx',
      { exitCode: 2 },
    ],
    [
      '<retrieval_status>timeout</retrieval_status>\n\n<task_id>b50</task_id>\n\n<status>running</status>',
      { running: 'task b50' },
    ],
    ['ok\n<shellId: 3 completed with exit code 1>', { exitCode: 1 }],
    ['<command with shellId: 3 is still running after 30 seconds>', { running: 'shell 3' }],
    ['apply_patch verification failed: no', { failed: true }],
    ['A log says: Process exited with code 1', {}],
    ['', {}],
  ])('%j', (output, expected) => {
    expect(readOutput(output)).toEqual({ text: output, ...expected });
  });

  test('comes in the result of a call that names the command', () => {
    expect(runningOf('write_stdin', '{"session_id":51,"chars":""}')).toBe('session 51');
    expect(runningOf('wait', { cell_id: '12' })).toBe('cell 12');
    expect(runningOf('TaskOutput', { task_id: 'b50' })).toBe('task b50');
    expect(runningOf('read_bash', { shellId: '3' })).toBe('shell 3');
    expect([runningOf('Bash', { session_id: 1 }), runningOf('wait', {}), runningOf('constructor', {})]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

test('the text of a result is its output, or the streams that the agent kept beside it', () => {
  expect(resultText({ output: script(done('ok')) })).toBe('ok');
  expect(resultText({ detail: { stdout: 'a', stderr: 'b' } })).toBe('a\nb');
});
