import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience, SEED, seeded, times } from '../../contract/test/runs.ts';
import { AuditHeads, type KnownHeads, readAuditKey, readHeads } from '../audit/heads.ts';
import { verifyAudit } from '../audit/verify.ts';
import { recordActions } from '../store/audit.ts';
import { type Happened, nextEntry, person, secret } from '../store/audit-chain.ts';
import type { AuditEntryRow, Db } from '../store/schema.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { testConfig } from './harness.ts';
import { createRandom } from './seed.ts';

/*
 * Changes of stored audit logs that a database administrator could make with SQL. Each change is made, searched for as `audit
 * verify --heads` does, and rolled back.
 */

const ORGANIZATIONS = ['org_one', 'org_two'];
const LENGTH = 30;
/** `CAPTURE_TEST_RUNS=20` makes 10,000 changes on SQLite and 200 on PostgreSQL (in 14 s and 43 s). */
const CHANGES = { sqlite: times(500), postgres: times(50) };

const random = createRandom();
const below = (count: number) => Math.floor(random() * count);
const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;

const happened = (n: number): Happened => ({
  actor: person(`usr_${n % 3}`),
  action: n % 2 === 0 ? 'secret.issued' : 'secret.revoked',
  target: secret(`sec_${n}`),
  ...(n % 3 === 0 ? {} : { details: { plane: 'live', position: n } }),
});

type Statement = ReturnType<typeof sql>;
type Change = () => Statement[];

const at = (organization: string, sequence: number) =>
  sql`organization_id = ${organization} and sequence = ${sequence}`;
const place = () => ({ organization: pick(ORGANIZATIONS), sequence: 1 + below(LENGTH) });

const TEXT_COLUMNS = ['actor_kind', 'actor_id', 'action', 'target_kind', 'target_id', 'previous', 'hash'] as const;

/** Every one of these changes a log. */
const KINDS: Record<string, Change> = {
  'a text edited'() {
    const { organization, sequence } = place();
    const column = sql.ref(pick(TEXT_COLUMNS));
    return [sql`update audit_entries set ${column} = ${column} || 'x' where ${at(organization, sequence)}`];
  },
  'a time edited'() {
    const { organization, sequence } = place();
    return [sql`update audit_entries set at = at + ${1 + below(1e9)} where ${at(organization, sequence)}`];
  },
  'details edited'() {
    const { organization, sequence } = place();
    const details = pick([`{"plane":"${random()}"}`, '{', 'null', '[]']);
    return [sql`update audit_entries set details = ${details} where ${at(organization, sequence)}`];
  },
  'a number edited'() {
    const { organization, sequence } = place();
    const other = pick([0, -1, LENGTH + 1 + below(5)]);
    return [sql`update audit_entries set sequence = ${other} where ${at(organization, sequence)}`];
  },
  'entries removed'() {
    const { organization, sequence } = place();
    const last = sequence + below(3);
    return [
      sql`delete from audit_entries where organization_id = ${organization} and sequence between ${sequence} and ${last}`,
    ];
  },
  'the end cut off with its head'() {
    const { organization, sequence } = place();
    return [
      sql`delete from audit_entries where organization_id = ${organization} and sequence >= ${sequence}`,
      sql`update audit_heads set sequence = ${sequence - 1}, hash = coalesce((
          select hash from audit_entries where ${at(organization, sequence - 1)}), ${'0'.repeat(64)})
        where organization_id = ${organization}`,
    ];
  },
  'two entries swapped'() {
    const organization = pick(ORGANIZATIONS);
    const one = 1 + below(LENGTH - 1);
    const other = one + 1 + below(LENGTH - one);
    const move = (from: number, to: number) =>
      sql`update audit_entries set sequence = ${to} where ${at(organization, from)}`;
    return [move(one, -7), move(other, one), move(-7, other)];
  },
  'an entry moved to the other organization'() {
    const sequence = 1 + below(LENGTH);
    return [
      sql`delete from audit_entries where ${at('org_one', sequence)}`,
      sql`update audit_entries set organization_id = 'org_one' where ${at('org_two', sequence)}`,
    ];
  },
  'an entry inserted'() {
    const { organization, sequence } = place();
    return [
      sql`update audit_entries set sequence = -sequence - 1 where organization_id = ${organization} and sequence > ${sequence}`,
      sql`update audit_entries set sequence = -sequence where organization_id = ${organization} and sequence < 0`,
      sql`insert into audit_entries select organization_id, ${sequence + 1}, at, actor_kind, actor_id, action, target_kind,
          target_id, details, previous, hash from audit_entries where ${at(organization, sequence)}`,
    ];
  },
  'a head edited'() {
    const organization = pick(ORGANIZATIONS);
    const change = pick([
      sql`sequence = ${below(LENGTH)}`,
      sql`sequence = ${LENGTH + 1 + below(9)}`,
      sql`hash = 'x' || hash`,
    ]);
    return [sql`update audit_heads set ${change} where organization_id = ${organization}`];
  },
  'a head removed': () => [sql`delete from audit_heads where organization_id = ${pick(ORGANIZATIONS)}`],
  'a log removed'() {
    const organization = pick(ORGANIZATIONS);
    return [
      sql`delete from audit_entries where organization_id = ${organization}`,
      sql`delete from audit_heads where organization_id = ${organization}`,
    ];
  },
};

describe.each(ENGINES)(`stored audit logs on %s ${seeded}`, (engine) => {
  let store: TestStore;
  let heads: KnownHeads;
  let kept: AuditEntryRow[];

  beforeAll(async () => {
    store = await openTestStore(engine);
    const { db, dataDir } = store;
    for (const organizationId of ORGANIZATIONS) {
      await db
        .insertInto('organizations')
        .values({
          organization_id: organizationId,
          name: organizationId,
          slug: organizationId,
          status: 'active',
          owner_user_id: 'usr_1',
          tenant_assigned: 1,
          created_at: 1,
          updated_at: 1,
        })
        .execute();
      const all = Array.from({ length: LENGTH }, (_, n) => happened(n));
      await db.transaction().execute((transaction) => recordActions(transaction, organizationId, all, SEED));
    }
    const file = join(dataDir, 'heads.jsonl');
    const key = readAuditKey(testConfig({ DATA_DIR: dataDir }));
    await new AuditHeads({ db, key, file, now: () => SEED }).sign();
    heads = await readHeads(file, key);
    kept = await db.selectFrom('audit_entries').selectAll().execute();
  });
  afterAll(() => store.dispose());

  /** Makes a change, checks whether it was found, and rolls it back. */
  async function isFound(statements: readonly Statement[]): Promise<boolean> {
    let found = false;
    const undone = new Error('undone');
    const work = async (transaction: Db) => {
      for (const statement of statements) await statement.execute(transaction);
      found = (await verifyAudit(transaction, heads)).findings.length > 0;
      throw undone;
    };
    await store.db
      .transaction()
      .execute(work)
      .catch((error) => {
        if (error !== undone) throw error;
      });
    return found;
  }

  /** Rewrites a log from one entry on by the rule of the chain, which is not secret. */
  function rewritten(): Statement[] {
    const { organization, sequence } = place();
    const rows = kept
      .filter((row) => row.organization_id === organization)
      .sort((one, other) => one.sequence - other.sequence);
    let head = rows[sequence - 2] ?? { sequence: 0, hash: '0'.repeat(64) };
    const statements: Statement[] = [];
    for (const row of rows.slice(sequence - 1)) {
      const forged = { ...happened(row.sequence - 1), actor: person('usr_forged') };
      const { hash, previous } = nextEntry(organization, head, forged, row.at);
      statements.push(
        sql`update audit_entries set actor_id = 'usr_forged', hash = ${hash}, previous = ${previous}
          where ${at(organization, row.sequence)}`,
      );
      head = { sequence: row.sequence, hash };
    }
    return [...statements, sql`update audit_heads set hash = ${head.hash} where organization_id = ${organization}`];
  }

  test(`have no finding as written, and a finding after each change`, { timeout: patience(60_000) }, async () => {
    const kinds = Object.entries({ ...KINDS, 'rewritten from an entry on': rewritten });
    expect((await verifyAudit(store.db, heads)).findings).toEqual([]);
    const count = CHANGES[engine as keyof typeof CHANGES];
    const missed: string[] = [];
    for (let n = 0; n < count; n++) {
      const [name, change] = kinds[n % kinds.length] as (typeof kinds)[number];
      if (!(await isFound(change()))) missed.push(name);
    }
    expect(missed).toEqual([]);
    expect((await verifyAudit(store.db, heads)).findings).toEqual([]);
  });
});
