import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const IMPORT = /(?:^|\n)(?:import|export)(?!\s+type\b)[^;]*?from\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g;

/** The packages that a program loads on its own thread, with its own files: a worker is a URL, not an import. */
function packagesOf(entry: string): Set<string> {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const open = [join(ROOT, entry)];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const [, fixed, lazy] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const name = fixed ?? lazy ?? '';
      if (!name.startsWith('.')) packages.add(name);
      else if (/\.tsx?$/.test(name)) open.push(join(dirname(file), name));
    }
  }
  expect(seen.size).toBeGreaterThan(5);
  return packages;
}

test('the thread that derives loads the prices, and no other program does', () => {
  const loads = (entry: string) => packagesOf(entry).has('@pydantic/genai-prices');
  expect(loads('server/derive/derive-program.ts')).toBe(true);
  const others = [
    ...['server/main.ts', 'cli/main.ts', 'dashboard/main.tsx'],
    ...['server/erase/mask/mask-program.ts', 'server/ingest/scan/scan-thread.ts'],
  ];
  expect(others.filter(loads)).toEqual([]);
});
