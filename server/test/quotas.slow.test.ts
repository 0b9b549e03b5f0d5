import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CONFIG_QUOTA, QUOTAS, type Quota } from '../store/quotas.ts';
import { purgeUnused } from '../store/unused.ts';
import { ENGINES } from './engines.ts';
import type { TestReply } from './harness.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

const AT_ONCE = 12;
const DAY = 24 * 3_600_000;
let counter = 0;

describe.each(ENGINES)('the quota on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  /** Adds copies of one of our rows. The `differing` columns get a number, and the `other` columns get the given values. */
  async function addCopies(
    noun: Quota,
    copies: number,
    like: Record<string, string>,
    differing: string[],
    other: Record<string, string | number> = {},
  ) {
    const { db } = world.service.store;
    const columns = (await db.introspection.getTables()).find(({ name }) => name === noun)?.columns ?? [];
    const tag = String(counter++);
    const values = columns.map(({ name }) => {
      if (name in other) return sql.lit(other[name]);
      return differing.includes(name) ? sql`${sql.ref(name)} || '-' || ${sql.lit(tag)} || '-' || i` : sql.ref(name);
    });
    const numbers =
      engine === 'sqlite'
        ? sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(copies)}) select i from n)`
        : sql`(select i from generate_series(1, ${sql.lit(copies)}) as i)`;
    const model = Object.entries({ organization_id: world.ours.organizationId, ...like }).map(
      ([name, value]) => sql`${sql.ref(name)} = ${value}`,
    );
    await sql`
      insert into ${sql.table(noun)} (${sql.join(columns.map(({ name }) => sql.ref(name)))})
      select ${sql.join(values)}
      from (select * from ${sql.table(noun)} where ${sql.join(model, sql` and `)} limit 1) as one, ${numbers} as n`.execute(
      db,
    );
  }

  /** Adds rows until only one more fits. */
  async function fillUp(noun: Quota, like: Record<string, string>, differing: string[], uncounted = 0) {
    const { count } = await world.service.store.db
      .selectFrom(noun)
      .select((row) => row.fn.countAll<number>().as('count'))
      .where('organization_id', '=', world.ours.organizationId)
      .$if(noun !== 'members' && noun !== 'directory_users', (query) => query.where('status', '=', 'active'))
      .executeTakeFirstOrThrow();
    await addCopies(noun, QUOTAS[noun] - Number(count) + uncounted - 1, like, differing);
  }

  const expectOneMore = (replies: readonly TestReply[]) => {
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 201)) expectProblem(reply, 400, 'quota_reached');
  };
  const atOnce = (send: (index: number) => Promise<TestReply>) =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, index) => send(index)));

  test('of secrets is not exceeded by simultaneous requests, and the list shows all active secrets', async () => {
    const { service, ours } = world;
    const differing = ['secret_id', 'hash'];
    await addCopies('secrets', 1_200, { status: 'active' }, differing, {
      status: 'revoked',
      // A secret that was revoked long ago would be purged in the background.
      revoked_at: service.clock.now,
    });
    await fillUp('secrets', { status: 'active' }, differing);
    expectOneMore(await atOnce(() => service.call('POST', '/v1/organizations/me/secrets', { as: ours.admin })));
    const { secrets } = (await service.call('GET', '/v1/organizations/me/secrets', { as: ours.member })).body;
    const active = secrets.filter(({ status }: { status: string }) => status === 'active');
    expect([active.length, secrets.length - active.length]).toEqual([QUOTAS.secrets, 1_000]);
    const ids = secrets.map(({ secretId }: { secretId: string }) => secretId);
    expect(ids).toEqual([...ids].sort().reverse());
  });

  test('of secrets has room again after a revocation, however many were revoked', async () => {
    const { service, ours } = world;
    const issue = () => service.call('POST', '/v1/organizations/me/secrets', { as: ours.admin });
    expectProblem(await issue(), 400, 'quota_reached');
    const { secrets } = (await service.call('GET', '/v1/organizations/me/secrets', { as: ours.member })).body;
    const spare = secrets.find(({ status, lastUsedAt }: Record<string, string>) => status === 'active' && !lastUsedAt);
    await service.call('DELETE', `/v1/organizations/me/secrets/${spare.secretId}`, { as: ours.admin });
    expect((await issue()).status).toBe(201);
  });

  test('of environments refuses new machines, but not known ones', async () => {
    const { service, ours } = world;
    await fillUp('environments', { status: 'active' }, ['environment_id', 'hostname']);
    const register = (hostname: string) =>
      service.call('POST', '/v1/environments', {
        as: ours.live,
        body: { hostname, platform: 'linux', serviceCliVersion: '1.0.0' },
      });
    const replies = await atOnce((index) => register(`new-${index}`));
    expectOneMore(replies);
    const added = replies.findIndex(({ status }) => status === 201);
    expect((await register(`new-${added}`)).status).toBe(200);
    const { body } = await service.call('GET', '/v1/organizations/me/environments', { as: ours.member });
    expect(body.environments).toHaveLength(QUOTAS.environments);
  });

  test('of environments does not count machines unseen for a week, and the list shows those seen last', async () => {
    const { service, ours } = world;
    service.clock.now += 7 * DAY;
    const machine = { hostname: 'a-week-later', platform: 'linux', serviceCliVersion: '1.0.0' };
    const registered = await service.call('POST', '/v1/environments', { as: ours.live, body: machine });
    expect(registered.status, registered.text).toBe(201);
    const { environments } = (await service.call('GET', '/v1/organizations/me/environments', { as: ours.member })).body;
    expect(environments).toHaveLength(QUOTAS.environments);
    expect(environments[0].hostname).toBe('a-week-later');
  });

  test('of machines and revoked secrets is freed after 90 days without use and without a session', async () => {
    const { service, ours } = world;
    const { db } = service.store;
    await service.call('POST', `/v1/environments/${ours.environmentId}/heartbeat`, { as: ours.live });
    await purgeUnused(db, service.clock.now + 82 * DAY);
    const countOf = async (noun: Quota) => {
      const { count } = await db
        .selectFrom(noun)
        .select((row) => row.fn.countAll<number>().as('count'))
        .where('organization_id', '=', ours.organizationId)
        .executeTakeFirstOrThrow();
      return Number(count);
    };
    expect(await countOf('environments')).toBeGreaterThan(QUOTAS.environments);
    await purgeUnused(db, service.clock.now + 91 * DAY);
    const left = await db
      .selectFrom('environments')
      .select(['hostname', 'status'])
      .where('organization_id', '=', ours.organizationId)
      .orderBy('hostname')
      .execute();
    // A revoked machine must not come back, so its row stays; our own machine has sessions.
    expect(left).toEqual([
      { hostname: 'ours-host', status: 'active' },
      { hostname: 'ours-revoked-host', status: 'revoked' },
    ]);
    const secrets = await db
      .selectFrom('secrets')
      .select('secret_id')
      .where('organization_id', '=', ours.organizationId)
      .where('status', '=', 'revoked')
      .execute();
    expect(secrets).toEqual([]);
    expect((await service.call('GET', '/v1/secret', { as: ours.live })).status).toBe(200);
  });

  test('of installations refuses new ones, and existing ones can still be changed', async () => {
    const { service, ours } = world;
    const ofRevokedMachine = 1;
    // An agent may have many installations without a machine.
    await service.call('POST', '/v1/organizations/me/agents', { as: ours.admin, body: { agentId: 'pi' } });
    await fillUp('installations', { agent_id: 'pi', status: 'active' }, ['installation_id'], ofRevokedMachine);
    const create = () =>
      service.call('POST', '/v1/organizations/me/agents', { as: ours.admin, body: { agentId: 'pi' } });
    expectOneMore(await atOnce(create));
    const again = await service.call('POST', `/v1/environments/${ours.environmentId}/agents`, {
      as: ours.live,
      body: { agentId: 'codex', version: '7' },
    });
    expect(again).toMatchObject({ status: 201, body: { installation: { version: '7' } } });
    const [first] = (await service.call('GET', '/v1/organizations/me/agents', { as: ours.member })).body.installations;
    const turn = (status: string) =>
      service.call('PATCH', `/v1/organizations/me/agents/${first.installationId}`, {
        as: ours.admin,
        body: { status },
      });
    expect((await turn('disabled')).status).toBe(200);
    expect((await create()).status).toBe(201);
    expectProblem(await turn('active'), 400, 'quota_reached');
  });

  test('of config bytes limits the list of as many installations as there may be', async () => {
    const { service, ours } = world;
    const config = { filler: 'ü'.repeat(30_000) };
    const bytes = Buffer.byteLength(JSON.stringify(config));
    const { db } = service.store;
    const ids = await db
      .selectFrom('installations')
      .select('installation_id')
      .where('organization_id', '=', ours.organizationId)
      .where('agent_id', '=', 'pi')
      .limit(Math.floor(CONFIG_QUOTA / bytes))
      .execute();
    for (const { installation_id } of ids.slice(1)) {
      const changed = { config: JSON.stringify(config) };
      await db.updateTable('installations').set(changed).where('installation_id', '=', installation_id).execute();
    }
    const put = (id: string) =>
      service.call('PATCH', `/v1/organizations/me/agents/${id}`, { as: ours.admin, body: { config } });
    expect((await put(String(ids[0]?.installation_id))).status).toBe(200);
    expectProblem(await put(ours.installationId), 400, 'quota_reached');
    const registered = { as: ours.live, body: { agentId: 'codex', config } };
    const path = `/v1/environments/${ours.environmentId}/agents`;
    expectProblem(await service.call('POST', path, registered), 400, 'quota_reached');
    const { text, body } = await service.call('GET', '/v1/organizations/me/agents', { as: ours.member });
    expect(body.installations).toHaveLength(QUOTAS.installations);
    expect(Buffer.byteLength(text)).toBeLessThan(CONFIG_QUOTA + QUOTAS.installations * 500);
  });

  test('of members refuses further invitations', async () => {
    const { service, ours } = world;
    await fillUp('members', { status: 'invited' }, ['user_id', 'email', 'email_key']);
    const invite = (index: number) =>
      service.call('POST', '/v1/organizations/me/members', {
        as: ours.admin,
        body: { email: `new-${index}@example.com` },
      });
    expectOneMore(await atOnce(invite));
  });
});
