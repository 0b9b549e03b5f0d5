import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listSearched } from '../erase/mask/searched-sessions.ts';
import { CONTENT_COLUMNS, TEXT_COLUMNS } from '../store/session-columns.ts';
import { findSession } from '../store/sessions.ts';
import { ENGINES } from './engines.ts';
import { appendTexts, openSession } from './factories.ts';
import { startWorld, type World } from './world.ts';

/** A text of its own in each column with a text of the client. */
const TEXTS = Object.fromEntries(TEXT_COLUMNS.map((name) => [name, `zq ${name}`]));
const isIn = (row: object, name: string) => Object.values(row).includes(TEXTS[name]);

describe.each(ENGINES)('the texts of a session on %s', (engine) => {
  let world: World;
  let sessionId: string;
  beforeAll(async () => {
    world = await startWorld(engine);
    const { service, ours } = world;
    sessionId = await openSession(service, ours.live, ours);
    await appendTexts(service, ours, sessionId, ['a prompt', 'another prompt']);
    const { db } = service.store;
    const change = { ...TEXTS, user_id: 'usr_person', visibility: 'facts' } as const;
    await db.updateTable('sessions').set(change).where('session_id', '=', sessionId).execute();
  });
  afterAll(() => world.service.close());

  test.each([
    ['usr_person', TEXT_COLUMNS],
    ['usr_other', TEXT_COLUMNS.filter((name) => !(CONTENT_COLUMNS as readonly string[]).includes(name))],
  ])('are shown to %s as %j', async (userId, shown) => {
    const viewer = { organizationId: world.ours.organizationId, userId, seesAll: false };
    const row = await findSession(world.service.store.db, viewer, sessionId);
    expect(TEXT_COLUMNS.filter((name) => isIn(row ?? {}, name))).toEqual(shown);
  });

  test('are all searched for secrets', async () => {
    const rows = await listSearched(world.service.store.db, '', 100);
    expect(rows.find(({ session_id }) => session_id === sessionId)).toMatchObject(TEXTS);
  });

  test.each([
    [{ level: 'figures' }, []],
    [{ level: 'full', from: 1, to: 2 }, ['repository']],
    [{ level: 'full' }, ['title', 'repository']],
  ])('are shown by a share of %j as %j', async (asked, shown) => {
    const { service, ours } = world;
    const { db } = service.store;
    const { user_id } = await db
      .selectFrom('members')
      .select('user_id')
      .where('organization_id', '=', ours.organizationId)
      .where('role', '=', 'owner')
      .executeTakeFirstOrThrow();
    await db.updateTable('sessions').set({ user_id }).where('session_id', '=', sessionId).execute();
    const expiresAt = new Date(service.clock.now + 3_600_000).toISOString();
    const body = { audience: 'organization', expiresAt, ...asked };
    const path = `/v1/organizations/me/sessions/${sessionId}/shares`;
    const made = await service.call('POST', path, { as: ours.owner, body });
    expect(made.body).toMatchObject({ token: expect.any(String) });
    const share = (await service.call('GET', `/v1/shares/${made.body.token}`, { as: ours.member })).body;
    expect(TEXT_COLUMNS.filter((name) => isIn(share, name))).toEqual(shown);
  });
});
