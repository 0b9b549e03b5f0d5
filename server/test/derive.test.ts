import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDeriver, type Deriver } from '../ingest/derive.ts';
import { emptySummary } from '../ingest/summary.ts';
import { openTestStore, type TestStore } from './engines.ts';

describe('figures that cannot be derived', () => {
  let store: TestStore;
  let derive: Deriver;
  const errors: unknown[] = [];

  beforeEach(async () => {
    store = await openTestStore('sqlite');
    derive = createDeriver({ db: store.db, onError: (error) => errors.push(error) });
  });
  afterEach(async () => {
    await derive.close();
    await store.dispose();
  });

  test('are reported, and never fail the append they come from', async () => {
    const broken = { eventType: 'user.message', payload: Buffer.from('{"text":') };
    expect(() => derive.add('org', 'ses', 1, [broken])).not.toThrow();
    expect(errors).toHaveLength(1);
    const kept = { summary: emptySummary(), through: 0 };
    expect(await derive.bringUpTo('org', 'ses', 0, kept)).toBe(kept);
  });
});
