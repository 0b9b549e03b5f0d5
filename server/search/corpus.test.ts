import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { times } from '../../contract/test/runs.ts';
import { done, leadsTo } from '../test/leads.ts';
import { createRandom } from '../test/seed.ts';
import { createMatcher } from './matcher.ts';
import { findTerm, prepareTerm } from './term.ts';

/** Transcripts of real sessions: those of the repository, and a larger collection if it is next to the repository. */
const FOLDERS = ['../../samples', '../../../shared/transcripts']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .filter((path) => existsSync(path));

const linesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.jsonl'))
    .flatMap((path) => readFileSync(`${folder}/${path}`, 'utf8').split('\n'));

/** All text in a line, extracted without knowing the vocabulary. */
function textIn(line: string): string {
  const texts: string[] = [];
  try {
    JSON.parse(line, (_, value) => {
      if (typeof value === 'string') texts.push(value);
      return value;
    });
  } catch {}
  return texts
    .filter((text) => /\s/.test(text) && !text.includes('\u001b'))
    .join('\n')
    .normalize('NFC');
}

describe.each(FOLDERS)('in the transcripts of %s', (folder) => {
  test('text copied from an event finds that event', () => {
    const random = createRandom();
    const lines = linesOf(folder);
    expect(lines.length).toBeGreaterThan(100);
    let tried = 0;
    for (let n = 0; n < times(400); n++) {
      const text = textIn(lines[Math.floor(random() * lines.length)] as string).slice(0, 100_000);
      const pieces = text.split(/\s+/);
      const from = Math.floor(random() * pieces.length);
      const copied = pieces.slice(from, from + 1 + Math.floor(random() * 4));
      const term = prepareTerm({ text: copied.join(' ') });
      if (!term || copied.some((piece) => piece.length > 60)) continue;
      tried++;
      expect(findTerm(text, term), copied.join(' ')).toBeDefined();
      expect(leadsTo(text, term), copied.join(' ')).toBe(true);
      const matcher = createMatcher([{ text: copied.join(' ') }]);
      expect(done(matcher.match('notice', { text })), copied.join(' ')).toBeDefined();
    }
    expect(tried).toBeGreaterThan(times(40));
  });
});

describe('test texts of other search engines', () => {
  test.each([
    ['多くの学生が試験に落ちた。', ['学生', '試験', '落ちた', '多くの学生'], ['生学', '試に']],
    ['我是中国人', ['中国', '中国人', '我', '我是中国人'], ['国中', '我中国']],
    ['안녕하세요 한글입니다', ['안녕', '한글', '안녕하세요', '"안녕하세요 한글"'], ['글한', '세요한']],
    ['การที่ได้ต้องแสดงว่างานดี', ['งานดี', 'แสดง', 'ได้'], ['ดีงาน']],
    ['一二三四五六七八九十', ['五六', '九十', '一二三四五六七八九十'], ['六五', '十一']],
    ['ｱﾌﾟﾘとカタカナ', ['カタ', 'タカナ'], ['ナカ']],
  ])('%s', (text, there, missing) => {
    const found = (query: string) => {
      const term = prepareTerm({ text: query.replaceAll('"', '') });
      return (
        term !== undefined &&
        leadsTo(text.normalize('NFC'), term) &&
        findTerm(text.normalize('NFC'), term) !== undefined
      );
    };
    expect(there.filter((query) => !found(query))).toEqual([]);
    expect(missing.filter(found)).toEqual([]);
  });
});
