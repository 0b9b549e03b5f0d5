import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGENTS } from '../cli/agents/all.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test('the README introduces every entry of the root', () => {
  const committed = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' });
  const entries = [...new Set(committed.split('\n').flatMap((path) => path.split('/', 1)))].filter(Boolean);
  expect(entries.length).toBeGreaterThan(10);
  const table = read('README.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const introduced = (entry: string) =>
    table.some((row) => row.includes(`\`${entry}\``) || row.includes(`\`${entry}/\``));
  const made = ['artefacts', 'data', 'dist'];
  expect([...entries, ...made].filter((entry) => entry !== 'README.md' && !introduced(entry))).toEqual([]);
});

test('the list of pages has every page', () => {
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md');
  const list = read('docs/README.md');
  expect(pages.filter((page) => !list.includes(`](${page})`))).toEqual([]);
});

test('the README tells how many agents capture reads', () => {
  const others = AGENTS.filter(({ id }) => id !== 'custom').length - 3;
  const readme = read('README.md').replaceAll(/\s+/g, ' ');
  expect(readme).toContain(`Claude Code, Codex, Cursor and ${others} other agents`);
});
