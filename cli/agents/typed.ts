import { type Path, peek, type Remainder, take } from './remainder.ts';

/**
 * Takes that look before they take. An agent may write any type under any key; what a field of the vocabulary cannot
 * hold is left in the remainder, and so stays in `rest`.
 */

export function takeText(remainder: Remainder, ...path: Path): string | undefined {
  return typeof peek(remainder, ...path) === 'string' ? (take(remainder, ...path) as string) : undefined;
}

export function takeNumber(remainder: Remainder, ...path: Path): number | undefined {
  return typeof peek(remainder, ...path) === 'number' ? (take(remainder, ...path) as number) : undefined;
}

export function takeInteger(remainder: Remainder, ...path: Path): number | undefined {
  return Number.isInteger(peek(remainder, ...path)) ? (take(remainder, ...path) as number) : undefined;
}

export function takeFlag(remainder: Remainder, ...path: Path): boolean | undefined {
  return typeof peek(remainder, ...path) === 'boolean' ? (take(remainder, ...path) as boolean) : undefined;
}

/** Takes the value only where it is this one, because an event says the same elsewhere. */
export function takeSame(remainder: Remainder, value: string | undefined, ...path: Path): void {
  if (value !== undefined && peek(remainder, ...path) === value) take(remainder, ...path);
}

/** Text without taking it: for telling kinds apart. */
export function peekText(remainder: Remainder, ...path: Path): string | undefined {
  const value = peek(remainder, ...path);
  return typeof value === 'string' ? value : undefined;
}

/** How many elements the array at a path has; 0 where there is none. */
export function lengthAt(remainder: Remainder, ...path: Path): number {
  const value = peek(remainder, ...path);
  return Array.isArray(value) ? value.length : 0;
}

/** The first of the paths at which there is text, taken. */
export function takeFirstText(remainder: Remainder, ...paths: readonly Path[]): string | undefined {
  for (const path of paths) {
    const text = takeText(remainder, ...path);
    if (text !== undefined) return text;
  }
  return undefined;
}
