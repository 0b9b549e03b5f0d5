import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Agent } from '../agents/agent.ts';
import { claudeCode } from '../agents/claude-code/claude-code.ts';
import { goose } from '../agents/goose/goose.ts';
import { findTranscripts, type Place, stampOf } from '../read/discover.ts';
import type { UnreadTranscript } from '../read/identify.ts';
import { makeFolder, write } from '../test/folder.ts';
import { TIMING } from './limits.ts';
import { createScan } from './scan.ts';
import { createWatch, type WatchFolder } from './watch.ts';

const NEVER: WatchFolder = () => {
  throw Object.assign(new Error('no watches left'), { code: 'ENOSPC' });
};
/** A system that offers watches but reports no changes. */
const SILENT: WatchFolder = () => ({ on: () => {}, close: () => {} }) as never;

const MINUTE_MS = 60_000;

/** A scan of a folder of transcripts, on a clock that the test sets, with the reads that it causes. */
function setUp(watchFolder: WatchFolder = SILENT, root = makeFolder(), agent: Agent = claudeCode) {
  const place: Place = { agent, root, below: '' };
  let time = 1_000_000;
  const watch = createWatch({ platform: 'linux', onChange: (changed) => scan.notice(changed), watchFolder });
  const scan = createScan({ places: [place], watch, tick: () => time, now: Date.now, timing: TIMING });
  const at = (below: string): Place => ({ ...place, below });
  const stamps = new Map<string, string>();
  const find = (places: readonly Place[]) => {
    const all = findTranscripts(places, () => {});
    const changed = all.filter((one) => stamps.get(one.path) !== stampOf(one));
    for (const one of changed) stamps.set(one.path, stampOf(one));
    return { files: all.length, changed };
  };
  /** A round of the daemon; returns its new reads. */
  const round = (): string[] => {
    const { changed } = find(scan.take());
    const everything = scan.takeEverything();
    if (everything.length > 0) {
      const { files, changed: others } = find(everything);
      scan.learn({ files, sessions: [others as UnreadTranscript[]] });
      changed.push(...others);
    }
    return changed.map(({ path }) => path).sort();
  };
  return {
    ...{ root, scan, at, round },
    pass: (ms: number) => {
      time += ms;
    },
    /** Runs rounds like the daemon for this long. Returns the reads and the number of wake-ups. */
    rest(ms: number) {
      const read: string[] = [];
      let rounds = 0;
      for (const end = time + ms; time < end; rounds++) {
        time = Math.min(end, time + Math.max(1, scan.pauseMs()));
        read.push(...round());
      }
      return { read, rounds };
    },
    /** A transcript that has been at rest for long. */
    add(path: string, text = 'x') {
      write(join(root, path), text);
      utimesSync(join(root, path), 1, 1);
    },
    /** The agent writes to a file. */
    say: (path: string, text: string) => void write(join(root, path), text),
  };
}

const ids = (count: number, project = 'p') =>
  Array.from({ length: count }, (_, n) => `${project}/00000000-0000-4000-8000-${String(n).padStart(12, '0')}.jsonl`);

test('at rest, nothing is read, and the process wakes up once a minute', () => {
  const { add, round, rest } = setUp();
  for (const path of ids(50)) add(path);
  expect(round()).toHaveLength(50);
  expect(rest(9 * MINUTE_MS)).toEqual({ read: [], rounds: expect.toSatisfy((rounds: number) => rounds <= 10) });
});

test('with more transcripts, the scan looks less often', () => {
  const { round, rest, scan } = setUp();
  round();
  scan.learn({ files: 100_000, sessions: [] });
  expect(rest(29 * MINUTE_MS).rounds).toBe(1);
});

test('a change that the system did not report is found within a minute, and later ones within two seconds', () => {
  const { add, say, round, rest, pass } = setUp();
  const [first = '', second = ''] = ids(2);
  add(first);
  add(second);
  round();
  say(second, 'xx');
  expect(rest(MINUTE_MS).read).toEqual([second]);
  say(second, 'xxx');
  expect(rest(2000).read).toEqual([second]);
  rest(11 * MINUTE_MS);
  say(second, 'xxxx');
  pass(2000);
  expect(round()).toEqual([]);
});

test('new files are found within a minute, also in new and replaced folders', () => {
  const { add, round, rest, root } = setUp();
  const [first = ''] = ids(1);
  add(first);
  round();
  const [other = '', another = ''] = ids(2, 'q');
  write(join(root, other), 'x');
  expect(rest(MINUTE_MS).read).toEqual([other]);
  write(join(root, another), 'x');
  expect(rest(MINUTE_MS).read).toEqual([another]);
  renameSync(join(root, 'p'), join(root, '..', `${Date.now()}-gone`));
  mkdirSync(join(root, 'p'));
  write(join(root, first), 'other');
  expect(rest(MINUTE_MS).read).toEqual([first]);
});

test('the target of a link is found, and a file with two names is found once', () => {
  const { add, round, rest, root, scan, at } = setUp();
  const [first = ''] = ids(1);
  add(first);
  round();
  const elsewhere = makeFolder();
  const [other = ''] = ids(1, 'other');
  write(join(elsewhere, other), 'x');
  symlinkSync(elsewhere, join(root, 'linked'));
  symlinkSync(join(root, 'p'), join(root, 'same'));
  symlinkSync(root, join(root, 'p', 'round'));
  for (const link of ['same', 'linked', 'p/round']) scan.notice(at(link));
  expect(round()).toEqual([`linked/${other}`]);
  expect(rest(3 * MINUTE_MS).read).toEqual([]);
});

test('a deleted file is forgotten, and found again when it comes back', () => {
  const { add, say, round, rest, root } = setUp();
  const [first = ''] = ids(1);
  add(first);
  round();
  rmSync(root, { recursive: true });
  expect(rest(2 * MINUTE_MS).read).toEqual([]);
  say(first, 'xx');
  expect(rest(5000).read).toEqual([first]);
});

test('the folder of an agent that runs for the first time is found within seconds', () => {
  const { round, rest, add } = setUp(SILENT, join(makeFolder(), 'not', 'there', 'yet'));
  round();
  expect(rest(5 * MINUTE_MS).read).toEqual([]);
  const [first = ''] = ids(1);
  add(first);
  expect(rest(5000).read).toEqual([first]);
});

test('without reports from the system, files are checked every 1.5 seconds, and active ones every half second', () => {
  const { add, say, round, rest } = setUp(NEVER);
  const [first = '', second = ''] = ids(2);
  add(first);
  add(second);
  round();
  say(first, 'xx');
  expect(rest(1500).read).toEqual([first]);
  say(first, 'xxx');
  expect(rest(500).read).toEqual([first]);
  say(second, 'xx');
  expect(rest(1500).read).toEqual([second]);
});

test('without reports from the system, a change among 5,000 transcripts is found within two seconds', () => {
  const { add, say, round, rest, scan } = setUp(NEVER);
  const [first = ''] = ids(1);
  add(first);
  round();
  scan.learn({ files: 5000, sessions: [] });
  say(first, 'xx');
  expect(rest(1500).read).toEqual([first]);
  scan.learn({ files: 100_000, sessions: [] });
  expect(rest(29_000).rounds).toBeLessThan(60);
});

test('a folder that is gone before it is watched does not cause more full looks', () => {
  const { add, round, rest } = setUp(() => {
    throw Object.assign(new Error('gone'), { code: 'ENOENT' });
  });
  add(ids(1)[0] ?? '');
  round();
  expect(rest(5 * MINUTE_MS).rounds).toBeLessThanOrEqual(6);
});

test('only a limited number of sessions count as active, the latest ones', () => {
  const { say, round, pass, scan } = setUp();
  for (const path of ids(100)) say(path, 'x');
  expect(round()).toHaveLength(100);
  pass(2000);
  expect(scan.take()).toHaveLength(64);
});

test('a new folder is scanned at once', () => {
  const { add, say, round, scan, at } = setUp();
  add(ids(1)[0] ?? '');
  round();
  const [other = ''] = ids(1, 'q');
  say(other, 'x');
  scan.notice(at('q'));
  expect(round()).toEqual([other]);
});

test('an expensive file is read seldom while it changes, and once more soon after', () => {
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
      scan.leaveAlone(at(first), 250);
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

test('an unreadable file is tried less and less often, and at the usual pace after a success', () => {
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
        scan.leaveAlone(at(first), 1, hasFailed);
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

test('a notice applies to a file of an agent that keeps all its sessions in one folder', () => {
  const { add, round, scan, at } = setUp(SILENT, makeFolder(), goose);
  add('sessions.db');
  round();
  scan.notice(at('sessions.db'));
  expect(scan.isNoticed()).toBe(true);
  expect(scan.take()).toMatchObject([{ below: 'sessions.db' }]);
});

test('during a full read, noticed files come first', () => {
  const { add, round, scan, at } = setUp();
  const [first = '', second = ''] = ids(2);
  for (const path of [first, second]) add(path);
  round();
  scan.expire();
  scan.notice(at(second));
  expect(scan.isNoticed()).toBe(true);
  expect(scan.take()).toMatchObject([{ below: second }]);
  expect(scan.takeEverything()).toHaveLength(1);
});
