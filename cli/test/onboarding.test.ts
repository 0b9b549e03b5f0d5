import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ONBOARDING, onboarding, onboardingBySecret, rehearsal } from '../../contract/onboarding.ts';

const ROOT = join(import.meta.dirname, '../..');
const ADDRESS = 'http://127.0.0.1:4400';

test('the README has the same install commands as the dashboard and the start of the service', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  for (const { systems, command } of onboarding(ADDRESS)) {
    expect(readme).toContain(`    ${command.padEnd(56)}${systems.join(', ')}\n`);
  }
  expect(readme.replaceAll(/\s+/g, ' ')).toContain(ONBOARDING);
});

test.each([
  ['http://127.0.0.1:4400', 'curl -fsSL http://127.0.0.1:4400/install | sh'],
  ['https://capture.example.com', "curl --proto '=https' --tlsv1.2 -fsSL https://capture.example.com/install | sh"],
  [
    "https://example.com/it's&here",
    "curl --proto '=https' --tlsv1.2 -fsSL 'https://example.com/it'\\''s&here/install' | sh",
  ],
])('the install command for a service at %s is %s', (address, command) => {
  expect(onboarding(address)[0]?.command).toBe(command);
});

test('an address with special characters of shells is quoted in every command', () => {
  const address = "https://example.com/it's&here";
  const lines = [...onboarding(address).map(({ command }) => command), rehearsal(address)];
  lines.push(...onboardingBySecret(address).flatMap(({ commands }) => commands));
  for (const line of lines.filter((each) => each.includes('example.com'))) {
    expect(line).toMatch(/'https:\/\/example\.com\/it('\\''|'')s&here[\w/.]*'/);
  }
});

test('no page tells people to install an unpublished package', () => {
  for (const file of ['README.md', 'docs/install.md', 'cli/README.md']) {
    expect(readFileSync(join(ROOT, file), 'utf8')).not.toMatch(/npm install --global @|npx @/);
  }
});
