import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sourceFiles } from './check/files.ts';
import { isBuilt } from './is-built.ts';

const root = mkdtempSync(join(tmpdir(), 'capture-built-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const [BEFORE, BUILT, AFTER] = [1, 2, 3];

/** Writes a file that was last changed at a time. */
function write(path: string, changed: number): void {
  mkdirSync(join(root, dirname(path)), { recursive: true });
  writeFileSync(join(root, path), '');
  utimesSync(join(root, path), changed, changed);
}

/** The workspaces whose code a program contains: its own, and all that these import. */
function workspacesOf(program: string): string[] {
  const found = new Set([program]);
  const files = sourceFiles().filter(({ path }) => !/\.test\.tsx?$|\/(test|e2e)\//.test(path));
  for (const workspace of found) {
    for (const { path, text } of files.filter((file) => file.path.startsWith(`${workspace}/`))) {
      for (const [, target = ''] of text.matchAll(/from '(\.[^']+)'/g)) {
        found.add(join(dirname(path), target).split('/', 1)[0] as string);
      }
    }
  }
  return [...found];
}

test.each(['cli', 'server', 'dashboard'])(
  '%s is built again after a change in any workspace that it contains',
  (program) => {
    const workspaces = workspacesOf(program);
    expect(workspaces).toContain('contract');
    for (const workspace of ['contract', 'transcript', 'redact', ...workspaces]) write(`${workspace}/code.ts`, BEFORE);
    write('package-lock.json', BEFORE);
    write('dist/program.cjs', BUILT);
    expect(isBuilt('dist/program.cjs', [program], root)).toBe(true);
    for (const changed of [...workspaces.map((name) => `${name}/code.ts`), 'package-lock.json']) {
      write(changed, AFTER);
      expect(isBuilt('dist/program.cjs', [program], root), changed).toBe(false);
      write(changed, BEFORE);
    }
  },
);

test('a program is not built again after a change in its tests, and is built if it was never built', () => {
  write('cli/test/code.ts', AFTER);
  write('dist/program.cjs', BUILT);
  expect(isBuilt('dist/program.cjs', ['cli'], root)).toBe(true);
  expect(isBuilt('dist/missing.cjs', ['cli'], root)).toBe(false);
});
