import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copySamples } from './samples.ts';

const samples = fileURLToPath(new URL('../../samples', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'capture-samples-'));
const NOW = new Date('2028-03-05T10:00:00Z');
const files = globSync('**/*.jsonl', { cwd: samples });

beforeAll(() => copySamples(samples, copy, NOW));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

test('all times in the samples of the demo are within the last two weeks', () => {
  for (const file of files) {
    const text = readFileSync(join(copy, file), 'utf8');
    const instants = [
      ...[...text.matchAll(/"timestamp":"([^"]+)"/g)].map(([, instant = '']) => Date.parse(instant)),
      ...[...text.matchAll(/"(?:completed_at|started_at|create_time)":(\d+)/g)].map(([, s]) => Number(s) * 1_000),
      ...[...text.matchAll(/"(?:completed_at_ms|started_at_ms|startTime)":(\d+)/g)].map(([, ms]) => Number(ms)),
    ];
    expect(instants.length, file).toBeGreaterThan(0);
    expect(Math.min(...instants), file).toBeGreaterThan(NOW.getTime() - 14 * 86_400_000);
    expect(Math.max(...instants), file).toBeLessThan(NOW.getTime());
  }
});

test('the samples of the demo differ from the recordings only in times', () => {
  const withoutTimes = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?|(?<=":)1\d{9,12}\b/g, 'TIME');
  for (const file of files) {
    const [before, after] = [samples, copy].map((folder) => withoutTimes(readFileSync(join(folder, file), 'utf8')));
    expect(after === before, file).toBe(true);
  }
});

test('the times of a session in the demo, its forks and its sub-agents move by the same amount', () => {
  const days = new Map<string, Set<string>>();
  for (const file of files) {
    const text = readFileSync(join(copy, file), 'utf8');
    const project = /"cwd":"([^"]+)"/.exec(text)?.[1] ?? '';
    const agent = file.split('/')[0] ?? '';
    const day = /"timestamp":"(\d{4}-\d\d-\d\d)/.exec(text)?.[1] ?? '';
    days.set(`${agent} ${project}`, (days.get(`${agent} ${project}`) ?? new Set()).add(day));
  }
  expect(Object.fromEntries([...days].map(([project, { size }]) => [project, size]))).toEqual({
    'claude-code /home/dev/code/backlog': 1,
    'claude-code /home/dev/code/shortlink': 1,
    'claude-code /home/dev/code/tidewatch': 1,
    'codex /home/dev/code/ledger': 2,
    'codex /home/dev/code/tidewatch': 1,
  });
});
