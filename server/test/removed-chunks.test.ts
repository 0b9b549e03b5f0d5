import { zstdDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeChunk } from '../store/derived-removal.ts';
import { appendTexts, createTenant, openSession, type Tenant, whenDerived } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startTestService('sqlite');
  tenant = await createTenant(service);
});
afterAll(() => service.close());

/** Words of chunks that the index lacks, so that it would be damaged when they are removed. */
async function missing(): Promise<string[]> {
  const { db } = service.store;
  const chunks = await db.selectFrom('session_chunks').select(['chunk_id', 'words']).execute();
  const found: string[] = [];
  for (const { chunk_id, words } of chunks) {
    for (const word of zstdDecompressSync(words as Uint8Array)
      .toString('utf8')
      .split(' ')) {
      const { rows } = await sql`
        select 1 from chunk_words where chunk_words match ${`"${word}"`} and rowid = ${chunk_id}`.execute(db);
      if (rows.length === 0) found.push(`${chunk_id} ${word}`);
    }
  }
  return found;
}

test('a session that grows while a mask removes its chunks has the same words in chunks and index', async () => {
  const { db } = service.store;
  const sessionId = await openSession(service, tenant.live);
  await appendTexts(service, tenant, sessionId, ['first words of the session']);
  await whenDerived(service, tenant.member, sessionId, 1);
  expect(await missing()).toEqual([]);
  // The first step of a mask's end. The process still keeps the words of the chunk in memory.
  while (await removeChunk(db, tenant.organizationId, sessionId));
  await appendTexts(service, tenant, sessionId, ['further words']);
  await whenDerived(service, tenant.member, sessionId, 2);
  expect(await missing()).toEqual([]);
  const found = await service.call('GET', '/v1/organizations/me/search?q=first+further', { as: tenant.member });
  expect(found.text).toContain(sessionId);
  expect(
    (await service.call('DELETE', `/v1/organizations/me/sessions/${sessionId}`, { as: tenant.admin })).status,
  ).toBe(200);
  await expect.poll(() => db.selectFrom('session_chunks').selectAll().execute()).toEqual([]);
  await sql`insert into chunk_words (chunk_words) values ('integrity-check')`.execute(db);
});
