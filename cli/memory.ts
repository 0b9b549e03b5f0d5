import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes. */
const LONG = 8 * 1024 * 1024;

/** Has the engine collect at once what it no longer needs; 20 to 50 ms. It hands out its own means under this flag only. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** What is long is there several times on its way, and the engine may leave each copy until the last one is made. */
export function collectAfter(bytes: number): void {
  if (bytes >= LONG) collectGarbage();
}

/** Bytes. Reading a megabyte takes 0.06 s of a processor with a compiler that optimizes, and 0.12 without. */
const MUCH = 1024 * 1024;

/** What takes long is optimized from now on, also where the engine was started without. */
export function optimizeFor(bytes: number): void {
  if (bytes >= MUCH) setFlagsFromString('--maglev');
}
