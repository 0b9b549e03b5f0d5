import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createOutput } from '../output.ts';
import { makeFolder } from '../test/folder.ts';
import { createLog, logPaths } from './log.ts';

function setUp(maxBytes?: number) {
  const folder = makeFolder();
  let stderr = '';
  const sink = {
    write(text: string) {
      stderr += text;
    },
  };
  const log = createLog(folder, { now: () => 0 }, createOutput({ stdout: sink, stderr: sink }, {}), maxBytes);
  return {
    log,
    stderr: () => stderr,
    read: (name: 'current' | 'older') => readFileSync(logPaths(folder)[name], 'utf8'),
  };
}

test('a line has a time, a level and a sentence, and cannot command a terminal or forge another line', () => {
  const { log, read } = setUp();
  log.warn('\u001b[2Jno\u001b]0;title\u0007thing\n1970-01-01T00:00:00.000Z info forged');
  expect(read('current')).toBe('1970-01-01T00:00:00.000Z warn nothing 1970-01-01T00:00:00.000Z info forged\n');
});

test('a repeated warning is shown once, and information only goes to the log', () => {
  const { log, read, stderr } = setUp();
  log.warn('away');
  log.warn('away');
  log.info('back');
  log.warn('away');
  expect(stderr()).toBe('warning: away\nwarning: away\n');
  expect(read('current').split('\n')).toHaveLength(4);
});

test('the log takes at most two files of a size', () => {
  const { log, read } = setUp(1000);
  for (let line = 0; line < 500; line++) log.info(`line ${line}`);
  expect(read('current').length).toBeLessThanOrEqual(1000);
  expect(read('older').length).toBeLessThanOrEqual(1000);
  expect(read('current')).toContain('line 499');
});
