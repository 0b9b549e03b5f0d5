import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeAtomically } from './atomic-file.ts';
import { makeFolder, write } from './test/folder.ts';

test('a file is written whole, with the given mode, and leaves nothing beside it', () => {
  const folder = makeFolder();
  const path = join(folder, 'config.json');
  writeAtomically(path, 'one', { mode: 0o600 });
  writeAtomically(path, 'two', { mode: 0o640 });
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['two', 0o640]);
  expect(readdirSync(folder)).toEqual(['config.json']);
});

test('a file that cannot be written stays as it was, and leaves nothing beside it', () => {
  const folder = makeFolder();
  write(join(folder, 'taken/file'), 'inside');
  expect(() => writeAtomically(join(folder, 'taken'), 'two', { mode: 0o600 })).toThrow(/EISDIR|ENOTEMPTY|EEXIST|EPERM/);
  expect(readdirSync(folder)).toEqual(['taken']);
});

test('programs that write one file at the same time leave one of their texts, whole', async () => {
  const folder = makeFolder();
  const path = join(folder, 'config.json');
  const module = join(import.meta.dirname, 'atomic-file.ts');
  const program = (letter: string) =>
    `import { writeAtomically } from ${JSON.stringify(module)};
     for (let i = 0; i < 50; i++) writeAtomically(${JSON.stringify(path)}, '${letter}'.repeat(65536), { mode: 0o600 });`;
  const writers = ['a', 'b'].map((letter) =>
    spawn(process.execPath, ['--input-type=module', '-e', program(letter)], { stdio: 'inherit' }),
  );
  const codes = await Promise.all(writers.map(async (writer) => (await once(writer, 'exit'))[0]));
  expect(codes).toEqual([0, 0]);
  expect(readFileSync(path, 'utf8')).toMatch(/^(?:a{65536}|b{65536})$/);
  expect(readdirSync(folder)).toEqual(['config.json']);
});
