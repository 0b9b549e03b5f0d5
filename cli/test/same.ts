import { expect } from 'vitest';
import { type Captured, digestsOf, newestOf } from './by-file.ts';
import type { CorpusFile } from './worlds.ts';

/** Expects the same events. Records of a store change, so only their latest revisions are compared, without duplicates. */
export function expectSame({ kind, from }: CorpusFile, grown: readonly Captured[], whole: readonly Captured[]): void {
  const tell = kind === 'lines' ? digestsOf : newestOf;
  expect({ from, events: tell(grown) }).toEqual({ from, events: tell(whole) });
  const texts = grown.map(({ text }) => text);
  if (kind !== 'lines') expect({ from, doubled: texts.length - new Set(texts).size }).toEqual({ from, doubled: 0 });
}
