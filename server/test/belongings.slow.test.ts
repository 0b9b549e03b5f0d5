import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BELONGINGS } from '../erase/belongings.ts';
import { ENGINES } from './engines.ts';
import { beginSignIn, issueSecret, registerMachine, signIn } from './factories.ts';
import { startWorld, type World } from './world.ts';

const MEMBERS = '/v1/organizations/me/members';
const DIRECTORY = '/v1/organizations/me/directory';
/** Names of columns that hold the id of a person. */
const OF_PERSON = /^(user_id|owner_user_id|actor_id|recipient_id|person|\w+_by)$/;

describe.each(ENGINES)('the belongings of a person on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  const call = (method: string, url: string, as?: string, body?: object) =>
    world.service.call(method, url, { as, ...(body && { body }) });

  /** An owner who made everything that a person can make, and whether each thing still works. */
  async function ownerWithEverything() {
    const { service, ours } = world;
    await call('POST', MEMBERS, ours.owner, { email: 'leaver@example.com', role: 'owner' });
    const as = await signIn(service, 'leaver');
    const userId = (await call('GET', '/v1/me', as)).body.userId as string;
    const secret = await issueSecret(service, as, 'live');
    const directory = (await call('POST', `${DIRECTORY}/token`, as)).body.value as string;
    const { deviceCode, userCode } = await beginSignIn(service, 'laptop-of-the-leaver');
    await call('POST', '/v1/organizations/me/device-sign-in', as, { userCode, decision: 'approve' });
    await call('POST', '/v1/organizations/me/views', as, { name: 'mine', search: { q: 'private' } });
    const expiresAt = new Date(service.clock.now + 86_400_000).toISOString();
    const share = { audience: 'organization', level: 'full', expiresAt };
    const { body } = await call('POST', `/v1/organizations/me/sessions/${ours.sessionId}/shares`, as, share);
    const { environmentId } = await registerMachine(service, ours.live, 'claimed-by-the-leaver');
    // An owner would get the machine at once.
    await sql`update environments set claimed_by = ${userId} where environment_id = ${environmentId}`.execute(
      service.store.db,
    );
    const rowsOf = async (table: 'views' | 'environments', column: string) =>
      (await sql`select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${userId}`.execute(service.store.db)).rows
        .length;
    const works = async () => ({
      secret: (await call('GET', '/v1/secret', secret)).status,
      directory: (await call('GET', '/scim/v2/Users', directory)).status,
      signIn: (await call('POST', '/v1/device-sign-ins/secret', undefined, { deviceCode })).body.code,
      share: (await call('GET', `/v1/shares/${body.token}`, ours.member)).status,
      views: await rowsOf('views', 'created_by'),
      claims: await rowsOf('environments', 'claimed_by'),
    });
    return { as, userId, directory, works };
  }

  const ENDED = { secret: 401, directory: 401, signIn: 'access_denied', share: 410, views: 0, claims: 0 };

  test.each([
    ['removed', (userId: string) => [`${MEMBERS}/${userId}`, undefined] as const],
    ['who leaves', () => ['/v1/me/membership', 'leaver'] as const],
    ['who deletes their account', () => ['/v1/me', 'leaver'] as const],
  ])('end, all of them, for an owner %s', async (_, how) => {
    const { as, userId, works, directory } = await ownerWithEverything();
    const [url, who] = how(userId);
    expect((await call('DELETE', url, who ? as : world.ours.owner)).status).toBe(200);
    expect(await works()).toEqual(ENDED);
    // They cannot invite themselves again.
    expect(await call('POST', '/scim/v2/Users', directory, { userName: 'leaver@example.com' })).toMatchObject({
      status: 401,
    });
    const { entries } = (await call('GET', '/v1/organizations/me/audit?limit=20', world.ours.owner)).body;
    const actions = entries.map(({ action }: { action: string }) => action);
    expect(actions).toEqual(
      expect.arrayContaining(['secret.revoked', 'share.revoked', 'directory.token_revoked', 'machine.sign_in_denied']),
    );
    expect((await call('GET', DIRECTORY, world.ours.owner)).body).not.toHaveProperty('token');
  });

  test('leave the token of the directory, if the person who ends the membership says so', async () => {
    const { userId, works } = await ownerWithEverything();
    await call('DELETE', `${MEMBERS}/${userId}?directory=keep`, world.ours.owner);
    expect(await works()).toEqual({ ...ENDED, directory: 200 });
    const { token } = (await call('GET', DIRECTORY, world.ours.owner)).body;
    expect(token).toMatchObject({ createdBy: userId, issuerIsOwner: false });
  });

  test('leave the token of a directory that deactivates the person itself', async () => {
    const { userId, directory, works } = await ownerWithEverything();
    const { Resources } = (await call('GET', '/scim/v2/Users?count=200', directory)).body;
    const user = Resources.find(({ userName }: { userName: string }) => userName === 'leaver@example.com');
    expect((await call('DELETE', `/scim/v2/Users/${user.id}`, directory)).status).toBe(204);
    expect(await works()).toEqual({ ...ENDED, directory: 200 });
    const { token } = (await call('GET', DIRECTORY, world.ours.owner)).body;
    expect(token).toMatchObject({ createdBy: userId, issuerIsOwner: false });
  });

  test('stay with an owner who gets another role, and the directory shows that its token is theirs', async () => {
    const { userId, works } = await ownerWithEverything();
    expect((await call('GET', DIRECTORY, world.ours.owner)).body.token).toMatchObject({ issuerIsOwner: true });
    await call('PATCH', `${MEMBERS}/${userId}`, world.ours.owner, { role: 'member' });
    expect(await works()).toMatchObject({ secret: 200, directory: 200, share: 200, views: 1 });
    expect((await call('GET', DIRECTORY, world.ours.owner)).body.token).toMatchObject({ issuerIsOwner: false });
  });

  test('are all in the list: each column with the id of a person, in every table', async () => {
    await ownerWithEverything();
    const { db } = world.service.store;
    const found: string[] = [];
    for (const { name: table, columns } of await db.introspection.getTables()) {
      if (table.startsWith('chunk_words')) continue;
      const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(db);
      for (const { name } of columns) {
        const hasPerson = rows.some((row) => typeof row[name] === 'string' && /^usr_\w+$/.test(row[name]));
        if (hasPerson || OF_PERSON.test(name)) found.push(`${table}.${name}`);
      }
    }
    const listed = Object.entries(BELONGINGS).flatMap(([table, columns]) =>
      Object.keys(columns).map((column) => `${table}.${column}`),
    );
    expect(found.sort()).toEqual(listed.sort());
  });
});
