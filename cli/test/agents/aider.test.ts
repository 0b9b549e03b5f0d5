import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import { aider } from '../../agents/aider/aider.ts';
import { type Block, MARKS, splitRuns } from '../../agents/aider/blocks.ts';
import type { DocumentSession } from '../../agents/store.ts';

/** Restores the text of the file from its records. */
const join = (runs: DocumentSession[]): string =>
  runs
    .flatMap(({ records }) => records as unknown as Block[])
    .map(({ kind, start = '', text, startedAt = '', end = '' }) => {
      const isEmpty = text === '' && startedAt === '' && kind === 'assistant';
      const lines = isEmpty ? [] : `${text}${startedAt}`.split('\n').map((line) => MARKS[kind] + line);
      return start + lines.join('\n') + end;
    })
    .join('');

const line = fc.oneof(
  fc.constantFrom(
    '',
    '',
    '  ',
    '# aider chat started at 2026-01-01 00:00:00',
    '#### typed  ',
    '####   ',
    '#### heading',
  ),
  fc.constantFrom('> told  ', '> ', '>', '# heading', 'said', '\tcode', '#### 日本語  '),
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replaceAll(/[\n\r\v\f\u2028\u2029\u0085]/g, '')),
);
const history = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom('\n', '\r\n'))
  .map(([lines, end]) => lines.join(end));

test('splitting a history keeps every character', () => {
  fc.assert(
    fc.property(history, (text) => void expect(join(splitRuns(text))).toBe(text)),
    runs(500),
  );
});

const RUN = '\n# aider chat started at 2026-01-01 00:00:00\n\n';
const PROMPT = '\n#### typed  \n#### and more  \n';
const ANSWER = '\nsaid\n\n#### heading\n\n    code\n\n';

test('appending to a history changes only its last block', () => {
  const pieces = fc.array(fc.constantFrom([RUN, PROMPT], [PROMPT], [ANSWER], ['> told  \n']), { maxLength: 20 });
  fc.assert(
    fc.property(pieces, (more) => {
      const written = [RUN, PROMPT, ...more.flat()];
      const flat = (text: string) =>
        splitRuns(text).flatMap(({ name, records }) => records.map((record) => ({ name, ...record })));
      const before = flat(written.slice(0, -1).join(''));
      expect(flat(written.join('')).slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    }),
    runs(300),
  );
});

test('each run is a session of the folder of its history', () => {
  const history = '\n# aider chat started at 2026-01-02 03:04:05\n\n#### a  \n'.repeat(2);
  const names = splitRuns(history).map(({ name }) => name);
  expect(names).toEqual(['2026-01-02-03-04-05', '2026-01-02-03-04-05-2']);
  const path = `old #1/.aider.chat.history.md#${names[1]}`;
  expect(aider.identify({ root: '/home/dev', path }, undefined)).toEqual({
    session: '2026-01-02-03-04-05-2-old #1',
    cwd: '/home/dev/old #1',
  });
  expect(aider.roots({}, '/home/dev')).toEqual([]);
  expect(aider.roots({ AIDER_CHAT_HISTORY_FILE: '/logs/aider.md' }, '/home/dev')).toEqual(['/logs']);
});

test("the model's heading is not a prompt if Aider marks the ends of prompts", () => {
  const kinds = (history: string) => splitRuns(history).flatMap(({ records }) => records.map(({ kind }) => kind));
  expect(kinds('#### typed  \n\nsaid\n\n#### heading\n')).toEqual(['user', 'assistant']);
  expect(kinds('#### typed\n\nsaid\n\n#### typed as well\n')).toEqual(['user', 'assistant', 'user']);
});
