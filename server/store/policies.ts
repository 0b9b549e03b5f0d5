import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { DEFAULT_POLICY, type Policy, type PolicyBody } from '../../contract/policy.ts';
import { recordAction } from './audit.ts';
import { person } from './audit-chain.ts';
import { firstRow } from './rows.ts';
import type { Db, MemberKey, PolicyRow } from './schema.ts';

/** The current policy of the organization. */
export async function readPolicy(db: Db, organizationId: string): Promise<Policy> {
  const row = await firstRow(
    db,
    sql<Pick<PolicyRow, 'policy'>>`select policy from policies where organization_id = ${organizationId}`,
  );
  return completePolicy(row?.policy);
}

/** The complete policy for the stored text; the defaults if there is none. */
export const completePolicy = (stored: string | null | undefined): Policy =>
  complete(stored ? (JSON.parse(stored) as PolicyBody) : {});

/** Replaces the whole policy, in a transaction of `changeMembers`. @returns the new policy */
export async function replacePolicy(
  transaction: Db,
  { organizationId, userId }: MemberKey,
  body: PolicyBody,
  now: number,
): Promise<Policy> {
  const before = await readPolicy(transaction, organizationId);
  const after = complete(body);
  const changed = FIELDS.filter((field) => !isDeepStrictEqual(before[field], after[field]));
  await sql`
    insert into policies (organization_id, policy, updated_at)
    values (${organizationId}, ${JSON.stringify(known(body))}, ${now})
    on conflict (organization_id) do update set policy = excluded.policy, updated_at = excluded.updated_at
    `.execute(transaction);
  if (changed.length > 0) {
    const target = { kind: 'organization', id: organizationId } as const;
    const details = { fields: changed.join(', ') };
    const happened = { actor: person(userId), action: 'policy.changed', target, details } as const;
    await recordAction(transaction, organizationId, happened, now);
  }
  return after;
}

const FIELDS = Object.keys(DEFAULT_POLICY) as (keyof Policy)[];

/** Removes unknown fields, which would have no bound. */
const known = (given: PolicyBody): PolicyBody =>
  Object.fromEntries(FIELDS.flatMap((field) => (given[field] === undefined ? [] : [[field, given[field]]])));

const complete = (given: PolicyBody): Policy => ({ ...DEFAULT_POLICY, ...known(given) });
