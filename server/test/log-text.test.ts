import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { toText } from '../log-text.ts';
import { createLogger, LogOutput } from '../logger.ts';

function openLog() {
  const stream = new PassThrough({ encoding: 'utf8' });
  return { log: createLogger('info', new LogOutput(stream, toText)), read: (): string => stream.read() };
}

test('a line on a terminal has a time, a level, a message and its fields, but no host name', () => {
  const { log, read } = openLog();
  log.warn({ signal: 'SIGTERM', code: 0 }, 'closing');
  expect(read()).toMatch(/^\d\d:\d\d:\d\d warn closing signal="SIGTERM" code=0\n$/);
});

test('an error on a terminal has its stack, and its control characters are escaped', () => {
  const { log, read } = openLog();
  log.error({ err: new Error('\u001b[2Jbroken') }, 'failed');
  expect(read()).toMatch(/^\d\d:\d\d:\d\d error failed\nError: \[2Jbroken\n {4}at /);
});

test('a line that is no log entry stays as it is', () => {
  for (const line of ['Session Capture is ready at http://127.0.0.1:4400', '{ no JSON'])
    expect(toText(line)).toBe(line);
});
