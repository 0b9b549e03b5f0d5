import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('redaction imports nothing but the contract and the vocabulary, so that the service can use it', () => {
  const files = (readdirSync(import.meta.dirname, { recursive: true }) as string[]).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !/^(?:node_modules|test)[\\/]/.test(name),
  );
  expect(files.length).toBeGreaterThan(20);
  const imports = files.flatMap((name) => {
    const depth = name.split(/[\\/]/).length;
    const outside = '../'.repeat(depth);
    const text = readFileSync(join(import.meta.dirname, name), 'utf8');
    return Array.from(text.matchAll(/from '([^']+)'/g), ([, from = '']) => from).filter((from) =>
      from.startsWith(outside),
    );
  });
  expect(imports.filter((from) => !/^(?:\.\.\/)+(?:contract\/|transcript\/vocabulary\.ts)/.test(from))).toEqual([]);
});
