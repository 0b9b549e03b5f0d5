import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes. */
const LONG = 8 * 1024 * 1024;

/** Makes the engine collect garbage now; this takes 20 to 50 ms. The engine offers its function only under this flag. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** A long value is copied several times on its way, and the engine may keep each copy until the last one is made. */
export function collectAfter(bytes: number): void {
  if (bytes >= LONG) collectGarbage();
}

/** Bytes. Reading a megabyte takes 0.06 s of processor time with an optimizing compiler, and 0.12 s without. */
const MUCH = 1024 * 1024;

/** Turns the optimizing compilers on for long work, even if the engine was started without them. */
export function optimizeFor(bytes: number): void {
  if (bytes >= MUCH) setFlagsFromString('--maglev');
}
