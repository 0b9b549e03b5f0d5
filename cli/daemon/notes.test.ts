import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { createNotes } from './notes.ts';

function prepare() {
  const folder = makeFolder();
  const onNote = vi.fn();
  let now = 0;
  const notes = createNotes({ folder, agents: new Set(['codex', 'cursor']), tick: () => now, onNote });
  onTestFinished(notes.close);
  const leave = (name: string) => write(join(folder, 'notes', name), '');
  const later = () => {
    now += 60_000;
  };
  return { folder, notes, onNote, leave, later };
}

test('a note is noticed, and when it is there already, too', async () => {
  const { notes, onNote, leave, later } = prepare();
  leave('codex');
  expect(notes.take()).toEqual(['codex']);
  later();
  expect(notes.take()).toEqual([]);
  leave('cursor');
  await vi.waitFor(() => expect(onNote).toHaveBeenCalled());
  expect(notes.take()).toEqual(['cursor']);
});

test('files of other names, however many, cost nothing and wake nobody', async () => {
  const { notes, onNote, leave, later } = prepare();
  notes.take();
  for (let index = 0; index < 2000; index++) leave(`other-${index}`);
  leave('codex');
  await vi.waitFor(() => expect(onNote).toHaveBeenCalled());
  later();
  expect(notes.take()).toEqual(['codex']);
  // Once for the file, and once for what was written to it.
  expect(onNote.mock.calls.length).toBeLessThan(5);
});

test('a folder that was deleted is made again', async () => {
  const { folder, notes, onNote, leave, later } = prepare();
  notes.take();
  rmSync(join(folder, 'notes'), { recursive: true });
  await vi.waitFor(() => {
    later();
    notes.take();
    expect(existsSync(join(folder, 'notes'))).toBe(true);
  });
  mkdirSync(join(folder, 'notes'), { recursive: true });
  later();
  notes.take();
  leave('codex');
  await vi.waitFor(() => expect(onNote).toHaveBeenCalled());
  later();
  expect(notes.take()).toEqual(['codex']);
});
