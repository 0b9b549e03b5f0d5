/**
 * Values this browser keeps between visits. A browser may refuse storage altogether, and what it holds may come from
 * another version or from a person's own hands: callers check what they read.
 */

/** @returns the value kept under the name; undefined when there is none, or none that is JSON */
export function readLocal(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(name) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Where the browser keeps nothing, the value lasts for this visit only. */
export function writeLocal(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden.
  }
}
