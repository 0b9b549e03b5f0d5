import { mkdirSync, renameSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { claudeCode } from '../agents/claude-code.ts';
import { findTranscripts, type Place } from '../read/discover.ts';
import { makeFolder, write } from '../test/folder.ts';
import { createHints, type WatchFolder } from './hints.ts';
import { createLooks } from './looks.ts';
import { pauseAfter } from './schedule.ts';

const NEVER: WatchFolder = () => {
  throw Object.assign(new Error('no watches left'), { code: 'ENOSPC' });
};
/** A system that takes watches and tells of nothing. */
const SILENT: WatchFolder = () => ({ on: () => {}, close: () => {} }) as never;

/** Looks over a folder of transcripts, on a clock that a test sets, with a count of the files that were looked at. */
function setUp(watchFolder: WatchFolder = SILENT, root = makeFolder()) {
  const place: Place = { agent: claudeCode, root, below: '' };
  let time = 1_000_000;
  const hints = createHints({ platform: 'linux', onHint: () => {}, watchFolder });
  const looks = createLooks({ places: [place], hints, tick: () => time, now: Date.now });
  const stamps = new Map<string, string>();

  function look(places: readonly Place[]) {
    const folders: Place[] = [];
    const found = findTranscripts(
      places.map((at) => ({ ...at, onFolder: (folder: Place) => folders.push(folder) })),
      () => {},
    );
    const changed = found.filter((file) => stamps.get(file.path) !== `${file.size} ${file.modifiedAt}`);
    for (const file of found) stamps.set(file.path, `${file.size} ${file.modifiedAt}`);
    for (const file of changed) looks.keepActive(file, file.path);
    return { folders, looked: found.length, changed: changed.map(({ path }) => path) };
  }

  return {
    root,
    looks,
    pass: (ms: number) => {
      time += ms;
    },
    /** A round of the daemon; what it looked at, and what it found to have changed. */
    round() {
      const due = look(looks.takeDue());
      looks.met(due.folders);
      const everything = looks.placesDue();
      const all = look(everything);
      if (everything.length > 0) looks.lookedAt(everything, all.folders, 60);
      return { looked: due.looked + all.looked, changed: [...due.changed, ...all.changed] };
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

const ids = (count: number) =>
  Array.from({ length: count }, (_, n) => `p/00000000-0000-4000-8000-${String(n).padStart(12, '0')}.jsonl`);

test('at rest nothing is looked at for minutes but the folders', () => {
  const { add, round, pass, looks } = setUp();
  for (const path of ids(50)) add(path);
  expect(round()).toMatchObject({ looked: 50 });
  pass(11 * 60_000);
  round();
  let looked = 0;
  let rounds = 0;
  for (let spent = 0; spent < 170_000; spent += Math.max(1, looks.pauseMs())) {
    pass(Math.max(1, looks.pauseMs()));
    looked += round().looked;
    rounds++;
  }
  expect({ looked, rounds: rounds <= 12 }).toEqual({ looked: 0, rounds: true });
});

test('a change that the system did not tell of is found: soon in an active session, later in one at rest', () => {
  const { add, round, pass } = setUp();
  const [first = '', second = ''] = ids(2);
  add(first);
  add(second);
  round();
  add(first, 'xx');
  pass(pauseAfter('active', 0, true));
  expect(round().changed).toEqual([first]);
  pass(11 * 60_000);
  round();
  add(second, 'xx');
  pass(pauseAfter('everything', 60, true));
  expect(round().changed).toEqual([second]);
});

test('a new file, and one in a new folder, are found by the time of the folder', () => {
  const { add, round, pass, root } = setUp();
  const [first = ''] = ids(1);
  add(first);
  round();
  pass(11 * 60_000);
  round();
  write(join(root, 'q/00000000-0000-4000-8000-00000000000a.jsonl'), 'x');
  pass(pauseAfter('folders', 0, true));
  expect(round().changed).toEqual(['q/00000000-0000-4000-8000-00000000000a.jsonl']);
  write(join(root, 'q/00000000-0000-4000-8000-00000000000b.jsonl'), 'x');
  pass(pauseAfter('folders', 0, true));
  expect(round().changed).toEqual(['q/00000000-0000-4000-8000-00000000000b.jsonl']);
});

test('a folder that takes the place of another is looked at', () => {
  const { add, round, pass, root } = setUp();
  const [first = ''] = ids(1);
  add(first);
  round();
  pass(11 * 60_000);
  round();
  renameSync(join(root, 'p'), join(root, '..', `${Date.now()}-gone`));
  mkdirSync(join(root, 'p'));
  write(join(root, first), 'other');
  utimesSync(join(root, 'p'), 1, 1);
  pass(pauseAfter('folders', 0, true));
  expect(round().changed).toContain(first);
});

test('without watches it looks more often', () => {
  const { add, round, looks, pass } = setUp(NEVER);
  for (const path of ids(3)) add(path);
  round();
  pass(2000);
  round();
  expect(looks.pauseMs()).toBeLessThanOrEqual(500);
  const watched = setUp();
  for (const path of ids(3)) watched.add(path);
  watched.round();
  watched.pass(2000);
  watched.round();
  expect(watched.looks.pauseMs()).toBeGreaterThanOrEqual(2000);
});

test('only so many sessions count as active, the latest ones', () => {
  const { add, round, pass } = setUp();
  for (const path of ids(100)) add(path);
  round();
  pass(pauseAfter('active', 0, true));
  expect(round().looked).toBe(64);
});

test('the folder of an agent that runs for the first time is found within two seconds', () => {
  const { pass, round, add } = setUp(SILENT, join(makeFolder(), 'not', 'there', 'yet'));
  expect(round().looked).toBe(0);
  pass(300_000);
  expect(round().looked).toBe(0);
  add('project/a.jsonl');
  pass(2000);
  expect(round().changed).toEqual(['project/a.jsonl']);
});
