import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { parseQuery } from '../../contract/query.ts';
import { runs } from '../../contract/test/runs.ts';
import { Signature } from '../store/signature.ts';
import { done, leadsTo, wordsOf } from '../test/leads.ts';
import { createMatcher, type Found, type Matcher } from './matcher.ts';
import { AND_MORE, RowWords } from './row-words.ts';
import { findTerm, prepareTerm, type Wanted } from './term.ts';
import { textsOf } from './texts.ts';
import { collectWords, withoutNoise } from './words.ts';

const wanted = (text: string, prefix = false) => prepareTerm({ text, ...(prefix && { prefix: true }) }) as Wanted;

function found(text: string, term: string): string | undefined {
  const { terms } = parseQuery(term);
  const range = findTerm(text, prepareTerm(terms[0] ?? { text: '' }) as Wanted);
  return range && text.slice(...range);
}

/** The result of a complete search. */
const findIn = ({ match }: Pick<Matcher, 'match'>, eventType: string, payload: unknown): Found | undefined =>
  done(match(eventType, payload));

describe('a text is cut into', () => {
  test.each([
    ['getUserById', 'getuserbyid get user by id'],
    ['HTML5Parser', 'html5parser html5 parser'],
    ['snake_case.path/to-file.ts', 'snake case path to file ts'],
    ['base64Encode v8engine utf8', 'base64encode base64 encode v8engine utf8'],
    ['文件上传', '文 件 文件 上 件上 传 上传'],
    ['Ünïcode ÉTÉ हिन्दी', 'ünïcode été हिन्दी'],
    ['commit 3F2A9Bc0', 'commit 3f2a9bc0 3f2a9 bc0'],
    ['👍🏽 ok', 'ok'],
  ])('%s', (text, words) => {
    expect([...wordsOf(text)].sort()).toEqual(words.split(' ').sort());
  });

  test('few words if it is random, for any length', () => {
    const key = 'aB3xK9mQ2pL7vR4tY8wZ1nC5dF6gHjK0';
    expect([...wordsOf(key)]).toEqual([key.toLowerCase()]);
    expect([...wordsOf(`${key}${key}`)]).toEqual([]);
    expect([...wordsOf(`before ${Buffer.alloc(3000, 'x7/Qk').toString('base64')} after`)]).toEqual(['before', 'after']);
  });

  test('the same words, with unbroken runs of 256 letters cut out anywhere', () => {
    const run = fc.tuple(fc.integer({ min: 1, max: 800 }), fc.constantFrom('A', 'é', ' ', '\n', '/=', '👍'));
    const property = fc.property(fc.array(run, { maxLength: 8 }), (runs) => {
      const text = runs.map(([length, end]) => 'x7/Qk_'.repeat(200).slice(0, length) + end).join('');
      expect(withoutNoise(text)).toBe(text.replace(/[A-Za-z0-9+/_=-]{256,}/g, ' '));
    });
    fc.assert(property, runs(500));
  });

  test('as many words as fit, and a marker if there are more', () => {
    const words = wordsOf(Array.from({ length: 100_000 }, (_, n) => `line${n}`).join(' '));
    const bytes = [...words].reduce((sum, word) => sum + Buffer.byteLength(word), 0);
    expect(bytes).toBeLessThan(600_010);
    expect(words).toContain(AND_MORE);
    expect(words).not.toContain('line99999');
  });
});

describe('a term is found', () => {
  test.each([
    ['const user = getUserById(42)', 'getUserById', 'getUserById'],
    ['const user = get_user_by_id(42)', 'getUserById', 'get_user_by_id'],
    ['const user = getUserById(42)', 'getuserbyid', 'getUserById'],
    ['const user = getUserById(42)', 'getuserb*', 'getUserById'],
    ['const user = getUserById(42)', 'userBy*', 'UserBy'],
    ['written in javascript', 'JavaScript', 'javascript'],
    ['an SQLite file', 'sqlite', 'SQLite'],
    ['see src/queue.ts:12', 'src/queue.ts', 'src/queue.ts'],
    ['see queue.ts', '"queue ts"', 'queue.ts'],
    ['connection\n  reset by peer', '"Connection reset"', 'connection\n  reset'],
    ['说文件上传失败了', '上传失败', '上传失败'],
    ['ファイルを開く', 'イル', 'イル'],
    ['파일을 업로드했다', '업로드', '업로드'],
    ['an ÉTÉ to remember', 'été', 'ÉTÉ'],
    ['error E0382: borrow', 'e0382', 'E0382'],
    ['the superuser and the user', 'user', 'user'],
  ])('in %j: %s', (text, term, there) => {
    expect(found(text, term)).toBe(there);
  });

  test.each([
    ['the superusers', 'user'],
    ['users', 'user'],
    ['reset the connection', '"connection reset"'],
    ['上 传', '上传'],
    ['get a user', 'getUser'],
    ['src/queues.ts', 'src/queue.ts'],
    ['𝕦𝕦', '𝕦'],
  ])('not in %j: %s', (text, term) => {
    expect(found(text, term)).toBeUndefined();
  });
});

describe('a text that nearly matches everywhere', () => {
  afterEach(() => void vi.restoreAllMocks());

  test.each([
    ['one endless word', 'aa', ` ${'a'.repeat(6_000)}`],
    ['one endless identifier', 'aaaab', 'aaaaaBaaaaa'.repeat(550)],
    ['words of a long phrase', 'a '.repeat(400), 'aa '.repeat(2_000)],
    ['a long phrase but for its end', `${'a '.repeat(63)}b`, 'a '.repeat(3_000)],
  ])('is searched in steps that do not grow with its length: %s', (_, term, text) => {
    const prepared = wanted(term);
    const looked = vi.spyOn(String.prototype, 'charCodeAt');
    expect(findTerm(text, prepared)).toBeUndefined();
    expect(looked.mock.calls.length).toBeLessThan(200 * text.length);
  });

  test('lets other work have its turn, for any length', () => {
    const matcher = createMatcher(['b', 'c', 'd'].map((end) => ({ text: `${'a '.repeat(7)}${end}` })));
    const text = 'a '.repeat(1_000_000);
    const exec = RegExp.prototype.exec;
    let traced = 0;
    const steps: number[] = [];
    function stepped(): void {
      steps.push(traced);
      traced = 0;
    }
    vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, given) {
      const from = this.lastIndex;
      const match = exec.call(this, given);
      if (this.global) traced += (match ? this.lastIndex : given.length) - from;
      return match;
    });
    expect(done(matcher.match('notice', { text }), stepped)).toBeUndefined();
    // Each step compares eight words.
    expect(Math.max(...steps)).toBeLessThan(300_000);
  });

  test('is searched across the border of two pieces', () => {
    const term = 'one two three';
    for (const gap of [' ', ' '.repeat(200)])
      for (let at = 16_384 - 450; at < 16_400; at++) {
        const there = `one${gap}two${gap}three`;
        expect(found(`${'.'.repeat(at)}${there}${'.'.repeat(700)}`, `"${term}"`)).toBe(there);
      }
  });
});

test('a phrase is traced by its first words, and matched by all of them', () => {
  const phrase = Array.from({ length: 63 }, () => 'e').join(' ');
  const { trace } = wanted(`${phrase} b`);
  // Each word is compared at each place, and no other work has a turn meanwhile.
  expect(trace.source.match(/e/g)?.length).toBeLessThan(10);
  expect(found(`${phrase} e b`, `"${phrase} b"`)).toBe(`${phrase} b`);
  expect(found(`${phrase} c ${phrase} b`, `"${phrase} b"`)).toBe(`${phrase} b`);
  const compared = { left: 30_000 };
  expect(findTerm('e '.repeat(3_000), wanted(`${phrase} b`), 0, 6_000, compared)).toBeTypeOf('number');
  expect(compared.left).toBeGreaterThan(-100);
});

const piece = fc.oneof(
  fc.constantFrom(
    'get',
    'User',
    'HTTP',
    'ID',
    'x',
    '_',
    ' ',
    '.',
    '/',
    '4',
    '文',
    '件',
    'é',
    'İ',
    'ß',
    '👍',
    'ไทย',
    '\n',
    '한',
  ),
  fc.string({ unit: 'binary', maxLength: 3 }),
);
const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('').normalize('NFC'));

test('a capital of two code units stays whole before a small letter', () => {
  expect([...wordsOf('\u{10400}get')]).toEqual(['\u{10428}get']);
});

describe('for any text', () => {
  test('its words are found, and its chunk is a candidate', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), fc.boolean(), (whole, from, length, prefix) => {
        const words = wordsOf(whole);
        const term = prepareTerm({
          text: whole.slice(from % (whole.length + 1)).slice(0, length % 20),
          ...(prefix && { prefix }),
        });
        const range = term && findTerm(whole, term);
        if (term && range) expect(leadsTo(whole, term), JSON.stringify(term)).toBe(true);
        for (const word of words) {
          const one = wanted(word);
          if (one.sure) expect(findTerm(whole, one), word).toBeDefined();
        }
      }),
      runs(500),
    );
  });
});

describe('the arguments of a call', () => {
  const gap = fc.oneof(
    fc.constantFrom(' ', '\n', '\t', '\r\n', '\0', '\\', '"', '\u001b[1m', ' <<\n', '\n+', '\u2028', '\\n'),
    fc.string({ unit: 'binary', maxLength: 4 }),
  );
  const text = fc
    .array(fc.tuple(fc.constantFrom('alpha', 'bravo', 'nalpha', 'ubravo'), gap), { maxLength: 8 })
    .map((words) => words.flat().join(''));

  test('are found as JSON text exactly if they are found as an object', () => {
    const property = fc.property(text, fc.constantFrom('alpha bravo', 'bravo alpha', 'alpha'), (cmd, term) => {
      const matcher = createMatcher([{ text: term }]);
      const isFound = (input: unknown) => findIn(matcher, 'tool.call', { name: 'shell', input }) !== undefined;
      expect(isFound(JSON.stringify({ cmd }))).toBe(isFound({ cmd }));
      const range = findTerm(textsOf('user.message', { text: cmd })[0] ?? '', wanted(term));
      expect(isFound({ cmd })).toBe(range !== undefined);
    });
    fc.assert(property, runs(1_000));
  });
});

test('an event with a term is never passed over by its JSON, however that is written', () => {
  const sign = fc.oneof(
    fc.constantFrom(
      '\n',
      '\t',
      '\\',
      '\\n',
      '"',
      '/',
      '\0',
      '\u001b[1m',
      '\u2028',
      '\u212a',
      '\u0301',
      'é',
      '文',
      ' ',
      '',
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  const word = fc.constantFrom('alpha', 'Bravo', 'getUser', 'get_user', 'nalpha', 'kilo', 'tango', 'fox');
  const text = fc.array(fc.tuple(word, sign), { maxLength: 8 }).map((words) => words.flat().join(''));
  const asEscapes = (json: string) => json.replace(/[ak]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
  const query = fc
    .array(fc.constantFrom('alpha', 'bravo', 'getUser', 'user', 'kilo', 'tango', 'fox', 'é'), {
      minLength: 1,
      maxLength: 3,
    })
    .map((words) => words.join(' '));
  const property = fc.property(text, query, fc.nat(3), fc.boolean(), (cmd, term, depth, isEscaped) => {
    let input: unknown = { cmd };
    for (let n = 0; n < depth; n++) input = JSON.stringify({ input });
    const matcher = createMatcher([{ text: term }]);
    const json = JSON.stringify({ name: 'shell', alphaKilo: { fox: 1 }, input });
    const written = isEscaped ? asEscapes(json) : json;
    const isFound = findIn(matcher, 'tool.call', JSON.parse(written)) !== undefined;
    if (isFound) expect(matcher.mayMatch(Buffer.from(written).toString('latin1')), written).toBe(true);
  });
  fc.assert(property, runs(400));
});

test('an event is passed over if no word of a phrase follows the other in it', () => {
  const { mayMatch } = createMatcher([{ text: 'go test' }]);
  const json = (text: string) => JSON.stringify({ text });
  expect(['test it, then go', 'go on and test', 'gotcha test'].map(json).filter(mayMatch)).toEqual([]);
  expect(['go\n\ttest', 'Go "test"', 'go', 'goTest'].map(json).map(mayMatch)).toEqual([true, true, false, true]);
});

test('an event is passed over if only the keys of its JSON have the words', () => {
  const { mayMatch } = createMatcher([{ text: 'git branch' }]);
  const inKeys = { gitBranch: 'main', input: [{ 'the git branch of it': 1 }] };
  expect(mayMatch(JSON.stringify(inKeys))).toBe(false);
  for (const text of ['git branch', 'a "git branch": b', '{"gitBranch":"main"}', 'git branch"', 'git branch\\'])
    expect(mayMatch(JSON.stringify({ ...inKeys, text })), text).toBe(true);
});

describe('an event', () => {
  const match = (query: string, payload: unknown, eventType = 'assistant.message') =>
    findIn(createMatcher(parseQuery(query).terms), eventType, payload);

  test('shows the line of the first match, with all matches in it', () => {
    const hit = match('queue drain*', { text: 'first line\n    the Queue is drained by drainQueue()\nlast' });
    const shown = hit?.show();
    expect(hit?.terms).toEqual(new Set([0, 1]));
    expect(shown).toMatchObject({
      text: expect.stringMatching(/^the Queue is drained by drainQueue\(\) last$/),
    });
    expect(shown?.marks.map(([start, end]) => shown.text.slice(start, end))).toEqual([
      'Queue',
      'drained',
      'drainQueue',
    ]);
  });

  test('is found by the input and output of a tool, not by ids and figures', () => {
    const source = { agent: 'codex', session: 'needle', file: 'needle', position: 0 };
    expect(
      match('needle', { source, callId: 'needle', messageId: 'needle', model: 'needle', text: 'hay' }),
    ).toBeUndefined();
    expect(match('needle', { source, name: 'shell', input: '{"cmd":"grep\\nneedle"}' }, 'tool.call')).toBeDefined();
    expect(match('needle', { source, output: [{ type: 'text', text: 'a needle' }] }, 'tool.result')).toBeDefined();
    expect(match('needle', { source, output: '', detail: { stdout: 'needle' } }, 'tool.result')).toBeDefined();
    expect(match('needle', { deep: [{ er: 'needle' }] }, 'of.nobody')).toBeDefined();
  });

  test('is found between the color codes of a terminal', () => {
    expect(match('failed', { output: '\u001b[31mfai\u001b[1mled\u001b[0m' }, 'tool.result')?.show().text).toBe(
      'failed',
    );
  });

  test('may contain anything', () => {
    let deep: unknown = 'needle';
    for (let n = 0; n < 200_000; n++) deep = [deep];
    expect(match('needle', { text: deep })).toBeDefined();
    fc.assert(
      fc.property(
        fc.constantFrom('tool.call', 'tool.result', 'notice', 'record', '__proto__', 'x'),
        fc.jsonValue(),
        (type, payload) => {
          collectWords(type, payload, new RowWords(), new Signature());
          match('needle "two words" pre*', payload, type);
        },
      ),
      runs(200),
    );
  });
});
