import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VERSIONS_OF_FORM } from '../derive/version.ts';
import { VERSION_HERE } from './derived.ts';
import { ENGINES } from './engines.ts';
import { createTenant, registerMachine, type Tenant, whenDerived } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { sessionWith } from './searched.ts';

const EVENTS = ['one', 'two'].map((text) => ({ eventType: 'user.message', payload: { text } }));

describe.each(ENGINES)('data that another version derived on %s', (engine) => {
  let service: TestService;
  let tenant: Tenant;
  let sessionId: string;

  beforeAll(async () => {
    service = await startTestService(engine);
    tenant = await createTenant(service);
    sessionId = await sessionWith(service, tenant, await registerMachine(service, tenant.live), EVENTS);
    await whenDerived(service, tenant.member, sessionId, EVENTS.length);
  });
  afterAll(() => service.close());

  /** Also ends the claim of a replica that failed, which would otherwise keep the session for a while. */
  const setVersion = (version: number) =>
    service.store.db
      .updateTable('session_facts')
      .set({ version, claimed_until: 0 })
      .where('session_id', '=', sessionId)
      .execute();
  const stored = () => service.store.db.updateTable('appends').where('session_id', '=', sessionId);

  async function readSummaries() {
    const of = (path: string) => service.call('GET', `/v1/organizations/me/${path}`, { as: tenant.member });
    const { summary } = (await of(`sessions/${sessionId}/facts`)).body;
    const [listed] = (await of(`session-summaries?sessionIds=${sessionId}`)).body.summaries;
    return [summary, listed];
  }

  test('counts as behind, but with its figures, until this version has derived the events', async () => {
    const { codec } = await service.store.db
      .selectFrom('appends')
      .select('codec')
      .where('session_id', '=', sessionId)
      .executeTakeFirstOrThrow();
    await setVersion(VERSIONS_OF_FORM[0] - 1);
    // Nothing can derive it for now.
    await stored().set({ codec: 99 }).execute();
    for (const summary of await readSummaries()) expect(summary).toMatchObject({ prompts: 2, summarizedThrough: 0 });
    await stored().set({ codec }).execute();
    await setVersion(VERSIONS_OF_FORM[0] - 1);
    await whenDerived(service, tenant.member, sessionId, EVENTS.length);
    for (const summary of await readSummaries()) expect(summary).toMatchObject({ prompts: 2, summarizedThrough: 2 });
  });

  test('counts as behind if that version is newer, because this version cannot read its facts', async () => {
    await setVersion(VERSIONS_OF_FORM[1] + 1);
    for (const summary of await readSummaries()) expect(summary).toMatchObject({ prompts: 2, summarizedThrough: 0 });
    await setVersion(VERSION_HERE);
    for (const summary of await readSummaries()) expect(summary).toMatchObject({ prompts: 2, summarizedThrough: 2 });
  });
});
