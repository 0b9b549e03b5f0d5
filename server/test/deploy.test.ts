import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createMetrics } from '../operations/metrics.ts';
import { openTestStore, type TestStore } from './engines.ts';
import { startTestService, type TestService } from './harness.ts';

const FOLDER = join(import.meta.dirname, '../../deploy');
const FILES = ['grafana/session-capture.json', 'prometheus/alerts.yaml'];

const named = (file: string): Set<string> => {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  return new Set(
    text.match(/\b(capture|nodejs|process)_[a-z0-9_]+/g)?.map((name) => name.replace(/_(bucket|sum|count)$/, '')),
  );
};

describe.runIf(inject('natsUrl'))('the shipped monitoring files', () => {
  const told = new Map<string, string>();
  let store: TestStore;
  let service: TestService;
  beforeAll(async () => {
    const metrics = createMetrics();
    store = await openTestStore('bus');
    metrics.watchStore(store);
    metrics.watchBackups({ everyMs: 1, last: async () => undefined });
    metrics.watchBus(store.bus as NonNullable<TestStore['bus']>);
    service = await startTestService('bus', {}, store, metrics);
    for (const [, name = '', type = ''] of (await metrics.read()).text.matchAll(/^# TYPE (\w+) (\w+)$/gm))
      told.set(name, type);
  });
  afterAll(async () => {
    await service.close();
    await store.dispose();
  });

  test.each(FILES)('use in %s only metrics that the service exports', (file) => {
    expect([...named(file)].filter((name) => !told.has(name))).toEqual([]);
    expect(named(file).size).toBeGreaterThan(5);
  });

  test('show every metric of the service in the dashboard', () => {
    const shown = named('grafana/session-capture.json');
    const own = [...told.keys()].filter((name) => name.startsWith('capture_'));
    expect(own.filter((name) => !shown.has(name))).toEqual([]);
  });
});
