import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QUOTAS, type Quota } from '../store/quotas.ts';
import { ENGINES } from './engines.ts';
import type { TestReply } from './harness.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

const AT_ONCE = 12;

describe.each(ENGINES)('the quota on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  /** Repeats a row of ours, with a number where it must differ, until one more may be added. */
  async function fillUp(noun: Quota, like: Record<string, string>, differing: string[]) {
    const { db } = world.service.store;
    const { organizationId } = world.ours;
    const { count } = await db
      .selectFrom(noun)
      .select((row) => row.fn.countAll<number>().as('count'))
      .where('organization_id', '=', organizationId)
      .executeTakeFirstOrThrow();
    const missing = QUOTAS[noun] - Number(count) - 1;
    const columns = (await db.introspection.getTables()).find(({ name }) => name === noun)?.columns ?? [];
    const values = columns.map(({ name }) =>
      differing.includes(name) ? sql`${sql.ref(name)} || '-' || i` : sql.ref(name),
    );
    const numbers =
      engine === 'sqlite'
        ? sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(missing)}) select i from n)`
        : sql`(select i from generate_series(1, ${sql.lit(missing)}) as i)`;
    const model = Object.entries({ organization_id: organizationId, ...like }).map(
      ([name, value]) => sql`${sql.ref(name)} = ${value}`,
    );
    await sql`
      insert into ${sql.table(noun)} (${sql.join(columns.map(({ name }) => sql.ref(name)))})
      select ${sql.join(values)}
      from (select * from ${sql.table(noun)} where ${sql.join(model, sql` and `)} limit 1) as one, ${numbers} as n`.execute(
      db,
    );
  }

  const expectOneMore = (replies: readonly TestReply[]) => {
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 201)) expectProblem(reply, 400, 'quota_reached');
  };
  const atOnce = (send: (index: number) => Promise<TestReply>) =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, index) => send(index)));

  test('of secrets is not passed by requests that come at once, and the list shows them all', async () => {
    const { service, ours } = world;
    await fillUp('secrets', {}, ['secret_id', 'hash']);
    expectOneMore(await atOnce(() => service.call('POST', '/v1/organizations/me/secrets', { as: ours.admin })));
    const { body } = await service.call('GET', '/v1/organizations/me/secrets', { as: ours.member });
    expect(body.secrets).toHaveLength(QUOTAS.secrets);
  });

  test('of environments refuses new machines, not those that are known', async () => {
    const { service, ours } = world;
    await fillUp('environments', {}, ['environment_id', 'hostname']);
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

  test('of installations refuses new ones, and those there are can be changed', async () => {
    const { service, ours } = world;
    // Of one agent there may be many that are on no machine.
    await service.call('POST', '/v1/organizations/me/agents', { as: ours.admin, body: { agentId: 'pi' } });
    await fillUp('installations', { agent_id: 'pi' }, ['installation_id']);
    const create = () =>
      service.call('POST', '/v1/organizations/me/agents', { as: ours.admin, body: { agentId: 'pi' } });
    expectOneMore(await atOnce(create));
    const again = await service.call('POST', `/v1/environments/${ours.environmentId}/agents`, {
      as: ours.live,
      body: { agentId: 'codex', version: '7' },
    });
    expect(again).toMatchObject({ status: 201, body: { installation: { version: '7' } } });
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
