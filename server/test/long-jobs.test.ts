import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ENGINES } from './engines.ts';
import { createTenant, openSession } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';

/** A job that runs until its signal aborts. */
const last = vi.hoisted(
  () => (signal: AbortSignal) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
);
vi.mock('../erase/apply-retention.ts', () => ({
  applyRetention: ({ signal }: { signal: AbortSignal }) => last(signal),
}));

describe.each(ENGINES)('while old sessions are deleted on %s', (engine) => {
  let service: TestService;
  beforeEach(async () => {
    service = await startTestService(engine, { RETENTION_DAYS: 30 });
  });
  afterEach(async () => {
    await service.close();
  });

  test('a deleted organization is still removed', async () => {
    const { organizationId, owner, live } = await createTenant(service, 'ours');
    await openSession(service, live);
    const request = { as: owner, body: { name: 'ours' } };
    expect((await service.call('POST', '/v1/organizations/me/deletion', request)).status).toBe(200);
    const left = async () => {
      await service.run('organizations');
      return service.store.db
        .selectFrom('organizations')
        .select('organization_id')
        .where('organization_id', '=', organizationId)
        .execute();
    };
    await expect.poll(left, { timeout: 15_000 }).toEqual([]);
  }, 40_000);
});
