import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Agent } from '../agents/agent.ts';
import { claudeCode } from '../agents/claude-code/claude-code.ts';
import { goose } from '../agents/goose/goose.ts';
import type { Place } from '../read/discover.ts';
import { makeFolder, write } from '../test/folder.ts';
import { createScan } from './scan.ts';
import { createWatch, type WatchFolder } from './watch.ts';

const NEVER: WatchFolder = () => {
  throw Object.assign(new Error('no watches left'), { code: 'ENOSPC' });
};
/** A system that takes watches and tells of nothing. */
const SILENT: WatchFolder = () => ({ on: () => {}, close: () => {} }) as never;

const MINUTE_MS = 60_000;

/** A scan of a folder of transcripts, on a clock that the test sets. */
function setUp(watchFolder: WatchFolder = SILENT, root = makeFolder(), agent: Agent = claudeCode) {
  const place: Place = { agent, root, below: '' };
  let time = 1_000_000;
  const watch = createWatch({ platform: 'linux', onChange: (changed) => scan.notice(changed), watchFolder });
  const scan = createScan({ places: [place], watch, tick: () => time, cpu: () => 0, now: Date.now });
  const at = (below: string): Place => ({ ...place, below });
  /** A round of the daemon; what is to be read of it. */
  const round = () => {
    const changed = scan.take();
    return { changed: changed.map(({ below }) => below).sort(), everything: scan.takeEverything().length > 0 };
  };
  return {
    ...{ root, scan, at, round },
    pass: (ms: number) => {
      time += ms;
    },
    /** Rounds as the daemon takes them, for so long; what is to be read, and how often it woke up. */
    rest(ms: number) {
      const changed: string[] = [];
      let rounds = 0;
      for (const end = time + ms; time < end; rounds++) {
        time = Math.min(end, time + Math.max(1, scan.pauseMs()));
        changed.push(...round().changed);
      }
      return { changed, rounds };
    },
    /** A transcript that has been at rest for long, folder and all. */
    add(path: string, text = 'x') {
      write(join(root, path), text);
      utimesSync(join(root, path), 1, 1);
      for (let folder = join(root, path, '..'); folder.length >= root.length; folder = join(folder, '..'))
        utimesSync(folder, 1, 1);
    },
  };
}

const ids = (count: number, project = 'p') =>
  Array.from({ length: count }, (_, n) => `${project}/00000000-0000-4000-8000-${String(n).padStart(12, '0')}.jsonl`);

test('at rest nothing is to be read, and the process wakes up once a minute', () => {
  const { add, round, rest } = setUp();
  for (const path of ids(50)) add(path);
  expect(round()).toEqual({ changed: [], everything: true });
  expect(rest(9 * MINUTE_MS)).toEqual({ changed: [], rounds: expect.toSatisfy((rounds: number) => rounds <= 10) });
});

test('a change that the system did not tell of is found within a minute, and then within two seconds', () => {
  const { add, round, rest, pass } = setUp();
  const [first = '', second = ''] = ids(2);
  add(first);
  add(second);
  round();
  pass(100 * MINUTE_MS);
  round();
  add(second, 'xx');
  expect(rest(MINUTE_MS).changed).toContain(second);
  pass(2000);
  expect(round().changed).toEqual([second]);
  rest(11 * MINUTE_MS);
  expect(rest(5 * MINUTE_MS).changed).toEqual([]);
});

test('a new file, one in a new folder, and one in a folder that took the place of another are found within a minute', () => {
  const { add, round, rest, root } = setUp();
  const [first = ''] = ids(1);
  add(first);
  round();
  const [other = '', another = ''] = ids(2, 'q');
  write(join(root, other), 'x');
  expect(rest(MINUTE_MS).changed).toContain(other);
  write(join(root, another), 'x');
  expect(rest(MINUTE_MS).changed).toContain(another);
  renameSync(join(root, 'p'), join(root, '..', `${Date.now()}-gone`));
  mkdirSync(join(root, 'p'));
  write(join(root, first), 'other');
  utimesSync(join(root, 'p'), 1, 1);
  expect(rest(MINUTE_MS).changed).toContain(first);
});

test('what a link leads to is found, and what is known by another name is found once', () => {
  const { add, round, rest, root } = setUp();
  const [first = ''] = ids(1);
  add(first);
  round();
  const elsewhere = makeFolder();
  const [other = ''] = ids(1, 'other');
  write(join(elsewhere, other), 'x');
  symlinkSync(elsewhere, join(root, 'linked'));
  symlinkSync(join(root, 'p'), join(root, 'same'));
  symlinkSync(root, join(root, 'p', 'round'));
  const { changed } = rest(3 * MINUTE_MS);
  expect(new Set(changed)).toEqual(new Set([`linked/${other}`]));
});

test('what is gone is forgotten, and found again when it comes back', () => {
  const { add, round, rest, root } = setUp();
  const [first = ''] = ids(1);
  add(first);
  round();
  rmSync(root, { recursive: true });
  expect(rest(2 * MINUTE_MS).changed).toEqual([]);
  add(first);
  expect(rest(5000).changed).toEqual([first]);
});

test('the folder of an agent that runs for the first time is found within seconds', () => {
  const { round, rest, add } = setUp(SILENT, join(makeFolder(), 'not', 'there', 'yet'));
  round();
  expect(rest(5 * MINUTE_MS).changed).toEqual([]);
  const [first = ''] = ids(1);
  add(first);
  expect(rest(5000).changed).toEqual([first]);
});

test('where the system tells of nothing it looks every two seconds, and every half a second at what goes on', () => {
  const { add, round, rest } = setUp(NEVER);
  const [first = '', second = ''] = ids(2);
  add(first);
  add(second);
  round();
  add(first, 'xx');
  expect(rest(2000).changed).toContain(first);
  expect(rest(2000).changed.length).toBeGreaterThanOrEqual(3);
  add(second, 'xx');
  expect(rest(2000).changed).toContain(second);
});

test('only so many sessions count as going on, the latest ones', () => {
  const { add, round, pass } = setUp();
  for (const path of ids(100)) add(path);
  round();
  pass(MINUTE_MS);
  for (const path of ids(100)) add(path, 'xx');
  expect(round().changed).toHaveLength(100);
  pass(2000);
  expect(round().changed).toHaveLength(64);
});

test('a file that costs much to read is read seldom while it is written to, and once more soon after', () => {
  const { add, round, pass, scan, at } = setUp();
  const [first = ''] = ids(1);
  add(first);
  round();
  let reads = 0;
  const writeAndRead = (text: string) => {
    add(first, text);
    scan.notice(at(first));
    for (const { below } of scan.take()) {
      expect(below).toBe(first);
      reads++;
      pass(250);
      scan.rest(at(first), 250);
    }
  };
  // Twice a second for a minute, at 250 ms of reading: 3 %.
  for (let written = 1; written <= 120; written++) {
    writeAndRead('x'.repeat(written + 1));
    pass(500);
  }
  expect(reads).toBeGreaterThanOrEqual(7);
  expect(reads).toBeLessThanOrEqual(9);
  pass(7500);
  expect(scan.take().map(({ below }) => below)).toEqual([first]);
});

test('a file that cannot be read is tried less and less often, and as soon as ever once it could be', () => {
  const { add, round, pass, scan, at } = setUp();
  const [first = ''] = ids(1);
  add(first);
  round();
  const triesIn = (ms: number, hasFailed: boolean) => {
    let tries = 0;
    for (let passed = 0; passed < ms; passed += 100) {
      scan.notice(at(first));
      for (const { below } of scan.take()) {
        expect(below).toBe(first);
        tries++;
        scan.rest(at(first), 1, hasFailed);
      }
      pass(100);
    }
    return tries;
  };
  expect(triesIn(MINUTE_MS, true)).toBeLessThanOrEqual(8);
  expect(triesIn(10 * MINUTE_MS, true)).toBeLessThanOrEqual(11);
  pass(MINUTE_MS);
  expect(triesIn(MINUTE_MS, false)).toBe(600);
});

test('a notice counts for a file of an agent that keeps all its sessions in one folder', () => {
  const { add, round, scan, at } = setUp(SILENT, makeFolder(), goose);
  add('sessions.db');
  round();
  scan.notice(at('sessions.db'));
  expect(scan.isNoticed()).toBe(true);
  expect(round().changed).toEqual(['sessions.db']);
});

test('while everything is to be read, what is noticed comes first', () => {
  const { add, round, scan, at } = setUp();
  const [first = '', second = ''] = ids(2);
  for (const path of [first, second]) add(path);
  round();
  scan.expire();
  scan.notice(at(second));
  expect(scan.isNoticed()).toBe(true);
  expect(round()).toEqual({ changed: [second], everything: true });
});
