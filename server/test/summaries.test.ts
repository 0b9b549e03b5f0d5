import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSummaries, type Summaries } from '../ingest/summaries.ts';
import { openTestStore, type TestStore } from './engines.ts';

describe('figures that cannot be derived', () => {
  let store: TestStore;
  let summaries: Summaries;
  const errors: unknown[] = [];

  beforeEach(async () => {
    store = await openTestStore('sqlite');
    summaries = createSummaries({ db: store.db, onError: (error) => errors.push(error) });
  });
  afterEach(async () => {
    await summaries.close();
    await store.dispose();
  });

  test('are reported, and never fail the append they come from', async () => {
    const events = [{ eventType: 'user.message', payload: Buffer.from('{"text":') }];
    summaries.note({ organizationId: 'org', sessionId: 'ses', status: 'active', eventCount: 1, events });
    await expect.poll(() => errors).toHaveLength(1);
    await summaries.flush();
  });
});
