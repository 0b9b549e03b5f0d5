import { storageName } from './base-path.ts';

/**
 * Values that the browser stores between visits. A browser may refuse storage, and stored values may come from another
 * version or from the person, so callers check what they read.
 */

/** @returns the value stored under the name; undefined if there is none, or if it is not JSON */
export function readLocal(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(storageName(name)) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a value. If the browser refuses storage, the value lasts for this visit only. */
export function writeLocal(name: string, value: unknown): void {
  try {
    localStorage.setItem(storageName(name), JSON.stringify(value));
  } catch {
    // Storage is full or forbidden.
  }
}
