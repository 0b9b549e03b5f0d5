import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isOlder, isSilent } from '../routes/machine-health.ts';
import { readMachineDays, readMachineSecrets } from '../store/machine-health.ts';
import { addSecret } from '../store/secrets.ts';
import { asOrganization } from '../store/tenant.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { explain } from './plans.ts';

const at = (day: string) => Date.parse(`${day}T12:00:00Z`);
const WORKDAYS = ['2026-11-09', '2026-11-10', '2026-11-11', '2026-11-12', '2026-11-13', '2026-11-16', '2026-11-17'];

describe('a machine', () => {
  test.each([
    ['2026-11-17', WORKDAYS, '2026-11-21', false],
    ['2026-11-17', WORKDAYS, '2026-11-22', true],
    // A machine that is used once a week is not silent after three days.
    ['2026-11-17', ['2026-11-03', '2026-11-10', '2026-11-17'], '2026-11-20', false],
    ['2026-11-17', ['2026-11-03', '2026-11-10', '2026-11-17'], '2026-11-26', true],
    ['2026-11-17', ['2026-11-16', '2026-11-17'], '2027-01-01', false],
    ['2026-11-17', [], '2027-01-01', false],
  ])('last seen on %s, at work on %j, is silent on %s: %j', (seen, days, now, silent) => {
    expect(isSilent(at(seen), days, at(now))).toBe(silent);
  });

  test.each([
    ['0.1.0', '0.1.0', false],
    ['0.1.9', '0.1.10', true],
    ['0.9.0', '1.0.0', true],
    ['2.0.0', '1.9.9', false],
    ['dev', '1.0.0', false],
  ])('with the command line %s is behind the offered %s: %j', (version, than, older) => {
    expect(isOlder(version, than)).toBe(older);
  });
});

const ROWS = 60_000;
const MAX_SECRETS = 2_000;

describe.each(ENGINES)('the health of machines on %s', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore(engine);
    const { db } = store;
    const [numbers, day] =
      engine === 'sqlite'
        ? [
            sql`(with recursive n(i) as (select 0 union all select i + 1 from n where i < ${ROWS}) select i from n)`,
            sql`date('2026-01-01', '+' || (i % 300) || ' days')`,
          ]
        : [
            sql`(select i from generate_series(0, ${sql.lit(ROWS)}) as i)`,
            sql`to_char(date '2026-01-01' + (i % 300), 'YYYY-MM-DD')`,
          ];
    await sql`
      insert into usage_days (organization_id, plane, dimension, value, day, week, sessions, prompts, tool_calls, failures,
        input_tokens, cached_tokens, output_tokens, unpriced_tokens, cost)
      select 'org_1', 'live', case i / 300 % 50 when 0 then 'environment' else 'tool' end, 'value' || (i / 300), ${day}, '',
        1, 1, 1, 1, 1, 1, 1, 1, 1
      from ${numbers} as numbers`.execute(db);
    await sql`analyze`.execute(db);
  });
  afterAll(() => store.dispose());

  test('is read without the sums of other dimensions', async () => {
    const from = '2026-01-02';
    const ids = Array.from({ length: 2_000 }, (_, n) => `value${n}`);
    const rows = await asOrganization('org_1', () => explain(store, (db) => readMachineDays(db, 'org_1', ids, from)));
    expect(JSON.stringify(rows)).toMatch(
      engine === 'sqlite'
        ? /organization_id=\? AND plane=\? AND dimension=\?/
        : /Index Cond.{0,200}plane = ANY.{0,60}dimension/,
    );
  });

  test('is read in one row for each requested machine, however many days it has', async () => {
    const days = await readMachineDays(store.db, 'org_1', ['value0', 'value50', 'value51'], '2026-01-02');
    expect(days.map(({ environment_id, days }) => [environment_id, days.split(',').length]).sort()).toEqual([
      ['value0', 299],
      ['value50', 299],
    ]);
  });

  test('counts active secrets and the newest revoked secrets', async () => {
    const { db } = store;
    const organization = {
      name: 'o',
      slug: 'o',
      status: 'active',
      owner_user_id: 'usr_1',
      tenant_assigned: 0,
    } as const;
    const times = { created_at: 0, updated_at: 0 };
    await db
      .insertInto('organizations')
      .values({ organization_id: 'org_1', ...organization, ...times })
      .execute();
    const secret = { organizationId: 'org_1', plane: 'live', prefix: '', lastFour: '', createdBy: 'usr_1' } as const;
    const add = (hash: string) => addSecret(db, { ...secret, name: undefined, hash, environmentId: 'env_1' }, 1);
    const { secret_id: active } = await add('active');
    const copies =
      engine === 'sqlite'
        ? sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000) select i from n)`
        : sql`(select i from generate_series(1, 3000) as i)`;
    await sql`
      insert into secrets (secret_id, organization_id, plane, hash, prefix, last_four, status, created_by, environment_id,
        created_at, updated_at)
      select 'sec_z' || i, organization_id, plane, 'hash' || i, prefix, last_four, 'revoked', created_by, environment_id, 1, 1
      from secrets, ${copies} as copies`.execute(db);
    const rows = await readMachineSecrets(db, 'org_1');
    expect(rows).toHaveLength(MAX_SECRETS);
    expect(rows.map(({ secret_id }) => secret_id)).toContain(active);
  });
});
