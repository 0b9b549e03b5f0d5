import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Prints the median time of an fdatasync of 4 KiB in the folder given as its argument, in ms. */
const COUNT = 301;
const block = Buffer.alloc(4096, 1);
const file = openSync(join(process.argv[2] ?? '', 'syncs'), 'w');
const times = Array.from({ length: COUNT }, (_, n) => {
  writeSync(file, block, 0, block.byteLength, n * block.byteLength);
  const started = performance.now();
  fdatasyncSync(file);
  return performance.now() - started;
});
closeSync(file);
process.stdout.write(`${times.sort((a, b) => a - b)[(COUNT - 1) / 2]}\n`);
