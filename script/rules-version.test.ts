import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bundleRules, RULES_VERSION_FILE, rulesVersion } from './rules-version.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

test('the version of the rules is a hash of every file with rules, independent of its path', async () => {
  const { code, files } = await bundleRules();
  const rules = readdirSync(`${ROOT}redact/rules`).filter((name) => !name.includes('.test.') && name !== 'rule.ts');
  for (const name of ['names.ts', 'separators.ts', 'values.ts', 'tables.ts', ...rules.map((name) => `rules/${name}`)]) {
    expect(files).toContain(`redact/${name}`);
  }
  expect(code).not.toContain(ROOT);
  expect(readFileSync(`${ROOT}${RULES_VERSION_FILE}`, 'utf8')).toBe(await rulesVersion());
});
