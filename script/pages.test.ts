import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AUDIT_ACTIONS } from '../contract/audit.ts';
import { MACHINE_STATES } from '../contract/environment.ts';
import { GAP_KINDS } from '../contract/gap-kinds.ts';
import { RULES } from '../faults/judge.ts';

const read = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8');
const METRICS = read('server/operations/metrics.ts').match(/(?<=')capture_\w+(?=')/g) ?? [];

/** The words in the first columns of the tables of a page. */
function firstColumns(page: string): Set<string> {
  const rows = read(page)
    .split('\n')
    .filter((line) => line.startsWith('| '));
  return new Set(rows.flatMap((row) => row.split(' | ', 1)[0]?.match(/[\w.-]+/g) ?? []));
}

test.each([
  ['docs/audit.md', 'action of the audit log', AUDIT_ACTIONS],
  ['docs/troubleshooting.md', 'check of capture status', MACHINE_STATES],
  ['docs/troubleshooting.md', 'kind of gap', Object.keys(GAP_KINDS)],
  ['docs/operations.md', 'metric', METRICS],
  ['docs/durability.md', 'rule of fault injection', Object.keys(RULES)],
] as const)('%s explains each %s', (page, _, names) => {
  expect(names.length).toBeGreaterThan(5);
  const explained = firstColumns(page);
  expect(names.filter((name) => !explained.has(name))).toEqual([]);
});
