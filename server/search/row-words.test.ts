import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { bitOf, Signature } from '../store/signature.ts';
import { hasBit, wordsOf } from '../test/leads.ts';
import { cutText, lowerCase } from './cut.ts';
import { AND_MORE, RowWords } from './row-words.ts';
import { addWords, hasParts, isWhole, MAX_WORD, withoutNoise } from './words.ts';

/** The words of a text by the rules of queries and highlights, as strings. */
function wordsByCuts(given: string): Set<string> {
  const text = withoutNoise(given);
  const lower = lowerCase(text);
  const words = new Set<string>();
  const add = (start: number, end: number) => words.add(lower.slice(start, Math.min(end, start + MAX_WORD)));
  let dense = [-1, -1];
  cutText(text, 0, (cuts, isDense) => {
    const [start, end] = [cuts[0] as number, cuts.at(-1) as number];
    if (isDense) {
      if (dense[1] === start) add(dense[0] as number, end);
      dense = [start, end];
    }
    if (isWhole(end - start, cuts.length - 1)) add(start, end);
    if (hasParts(end - start, cuts.length - 1))
      for (let n = 1; n < cuts.length; n++) add(cuts[n - 1] as number, cuts[n] as number);
    return true;
  });
  return words;
}

const inOrder = (words: Iterable<string>) => [...words].sort();

describe('an index row has the same words as a query', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'getUserById',
      'HTMLParser',
      'aB',
      'ABc',
      'x9Y',
      'Ünï',
      'ΑΣ',
      'İx',
      '𐐀𐐨',
      '日本',
      '語',
      'ー',
      'ก',
      '👍',
      'é',
      'K',
    ),
    fc.constantFrom(' ', '.', '_', '-', '\n', '/', '\u0301'),
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.string({ unit: fc.constantFrom('a', 'B', 'c', 'D', '1'), maxLength: 300 }),
  );

  test('for any text', () => {
    const property = fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('');
      expect(inOrder(wordsOf(text))).toEqual(inOrder(wordsByCuts(text)));
    });
    fc.assert(property, runs(2_000));
  });

  const transcripts = fileURLToPath(new URL('../../../shared/transcripts', import.meta.url));
  const folder = existsSync(transcripts) ? transcripts : fileURLToPath(new URL('../../samples', import.meta.url));
  test('for the lines of real transcripts', () => {
    const files = globSync('**/*.jsonl', { cwd: folder }).slice(0, 12);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const text = readFileSync(`${folder}/${file}`, 'utf8').slice(0, 400_000);
      expect(inOrder(wordsOf(text))).toEqual(inOrder(wordsByCuts(text)));
    }
  });
});

test('a hundred thousand similar words have different hashes', () => {
  const words = new RowWords();
  const names = Array.from({ length: 50_000 }, (_, n) => [`w${n.toString(36)}`, `${n.toString(36)}w`]).flat();
  words.restore(names);
  expect(words.size).toBe(new Set(names).size);
});

test('a row keeps a word once, also after its words were restored', () => {
  const words = new RowWords();
  addWords('one two one', words, new Signature());
  expect(words.takeFresh()).toEqual(['one', 'two']);
  const restored = new RowWords();
  restored.restore(['one', 'two']);
  addWords('two three', restored, new Signature());
  expect(restored.takeFresh()).toEqual(['three']);
});

test('a signature has the words that its chunk has, known to the row or not', () => {
  const has = (signature: Signature, word: string) => hasBit(signature, bitOf(word));
  const words = new RowWords();
  const [first, second] = [new Signature(), new Signature()];
  addWords('shared first getUserById', words, first);
  addWords('shared second', words, second);
  for (const word of ['shared', 'first', 'getuserbyid', 'get', 'user']) expect(has(first, word)).toBe(true);
  for (const word of ['shared', 'second']) expect(has(second, word)).toBe(true);
  expect(has(second, 'first')).toBe(false);
});

test.each([
  ['see the git branch', 'git branch', 'branch git'],
  ['git status, then branch', 'git status', 'git branch'],
  ['getUserById is slow', 'user by', 'get by'],
  ['getUserById is slow', 'getuserbyid is', 'user is'],
  ['getUserById is slow', 'id is', 'by is'],
  ['call getUserById', 'call getuserbyid', 'call user'],
  ['call getUserById', 'call get', 'call id'],
  ['\u{10400}x get', '\u{10428}x get', 'get \u{10428}x'],
])('a signature of %j knows that the words of %j follow each other, and those of %j do not', (text, pair, other) => {
  const signature = new Signature();
  addWords(text, new RowWords(), signature);
  const follow = (words: string) => {
    const [one, next] = words.split(' ') as [string, string];
    return hasBit(signature, bitOf(next, one));
  };
  expect([follow(pair), follow(other)]).toEqual([true, false]);
});

test('words of two texts, or beside a character of writing without spaces, do not follow each other', () => {
  const signature = new Signature();
  const words = new RowWords();
  for (const text of ['one', 'two 文 three']) addWords(text, words, signature);
  expect(hasBit(signature, bitOf('two', 'one'))).toBe(false);
  expect(hasBit(signature, bitOf('three', 'two'))).toBe(false);
});

test('a chunk with more words than the row keeps is marked, and a search reads it for any word', () => {
  const words = new RowWords();
  const signature = new Signature();
  addWords(Array.from({ length: 100_000 }, (_, n) => `line${n}`).join(' '), words, signature);
  expect(words.isFull && signature.isFull).toBe(true);
  expect(words.takeFresh()).toContain(AND_MORE);
  expect(signature.bytes.every((byte) => byte === 0xff)).toBe(true);
});
