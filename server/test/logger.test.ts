import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createLogger, LogOutput } from '../logger.ts';

/** A reader that reads a line only when the test says so. */
function createReader() {
  const lines: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(line: string, _encoding, callback) {
      lines.push(line);
      waiting.push(callback);
    },
  });
  return { stream, lines, takeOne: () => waiting.shift()?.() };
}

const flushed = () => new Promise((resolve) => setImmediate(resolve));

test('a log without a reader takes bounded memory, and later reports the number of missing lines', async () => {
  const { stream, lines, takeOne } = createReader();
  const log = createLogger('info', new LogOutput(stream));
  for (let n = 0; n < 5_000; n++) log.info({ text: 'x'.repeat(1_000) });
  expect(stream.writableLength).toBeLessThan(1.01 * 1024 * 1024);
  while (stream.writableLength > 0) {
    takeOne();
    await flushed();
  }
  const before = lines.length;
  expect(before).toBeGreaterThan(500);
  log.info('there is room again');
  takeOne();
  await flushed();
  expect(JSON.parse(lines[before] ?? '')).toMatchObject({ level: 40, dropped: 5_000 - before });
  expect(JSON.parse(lines[before + 1] ?? '')).toMatchObject({ msg: 'there is room again' });
});

test('flushing settles after the last line, and does not wait forever for a reader', async () => {
  const { stream, takeOne } = createReader();
  const output = new LogOutput(stream);
  await output.flush(60_000);
  output.write('one\n');
  await output.flush(10);
  const done = output.flush(60_000);
  for (let n = 0; n < 3; n++) {
    takeOne();
    await flushed();
  }
  await done;
  expect(stream.writableLength).toBe(0);
});

test('a log whose reader is gone is no longer written', async () => {
  let tries = 0;
  const stream = new Writable({
    autoDestroy: false,
    write(_line, _encoding, callback) {
      tries++;
      callback(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    },
  });
  const log = createLogger('info', new LogOutput(stream));
  log.info('one');
  await flushed();
  log.info('two');
  expect(tries).toBe(1);
});
