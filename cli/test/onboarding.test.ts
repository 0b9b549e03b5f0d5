import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ONBOARDING, onboarding, onboardingBySecret, rehearsal } from '../../contract/onboarding.ts';
import { COMMANDS } from '../commands/all.ts';

const ROOT = join(import.meta.dirname, '../..');
const ADDRESS = 'http://127.0.0.1:4400';

test('the README says the same as the dashboard and the start of the service', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  for (const { systems, command } of onboarding(ADDRESS)) {
    expect(readme).toContain(`    ${command.padEnd(56)}${systems.join(', ')}\n`);
  }
  expect(readme.replaceAll(/\s+/g, ' ')).toContain(ONBOARDING);
});

test('every command that is told exists, with its options', () => {
  const lines = [...onboardingBySecret(ADDRESS).flatMap(({ commands }) => commands), rehearsal(ADDRESS)];
  const told = lines.flatMap((line) => [...line.matchAll(/(?:capture|capture\.tgz) (\w+)([^&;]*)/g)]);
  expect(told.map(([, name]) => name)).toEqual(['login', 'init', 'login', 'init', 'import']);
  for (const [, name, options = ''] of told) {
    const command = COMMANDS.find((one) => one.name === name);
    const known = Object.values(command?.takes ?? {}).map(({ flags }) => flags.split(' ')[0]);
    for (const option of options.match(/--[a-z-]+/g) ?? []) expect(known).toContain(option);
  }
});

test('nothing that is not published is told to be fetched', () => {
  for (const file of ['README.md', 'docs/install.md', 'cli/README.md']) {
    expect(readFileSync(join(ROOT, file), 'utf8')).not.toMatch(/npm install --global @|npx @/);
  }
});
