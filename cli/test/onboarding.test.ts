import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { onboarding } from '../../contract/onboarding.ts';
import { COMMANDS } from '../commands/all.ts';

const ROOT = join(import.meta.dirname, '../..');

test('the README says the same as the dashboard and the start of the service', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  for (const { about, command } of onboarding('http://127.0.0.1:4400')) {
    expect(readme).toContain(`. ${about}\n\n       ${command}\n`);
  }
});

test('every command that is told exists', () => {
  const commands = onboarding('http://h').flatMap(({ command }) => [...command.matchAll(/(?:^|&& )capture (\w+)/g)]);
  expect(commands.map(([, name]) => name)).toEqual(['login', 'init']);
  for (const [, name] of commands) expect(COMMANDS.map((command) => command.name)).toContain(name);
});

test('nothing that is not published is told to be fetched', () => {
  for (const file of ['README.md', 'docs/install.md']) {
    expect(readFileSync(join(ROOT, file), 'utf8')).not.toMatch(/npm install --global @|npx @/);
  }
});
