import type { Plane } from '../contract/secret.ts';
import { hashSecret, newSecretValue } from '../server/credentials.ts';
import { newUuid } from '../server/ids.ts';
import { pack } from '../server/log/codec.ts';
import { encodeFrame } from '../server/log/frame.ts';
import { secret as by } from '../server/store/audit-chain.ts';
import { registerEnvironment } from '../server/store/environments.ts';
import { upsertInstallation } from '../server/store/installations.ts';
import { openStore, type Store, type StoreOptions } from '../server/store/open.ts';
import { type Opening, openSession } from '../server/store/opening.ts';
import { createOrganization } from '../server/store/organizations.ts';
import { resolveCaller } from '../server/store/people.ts';
import { addSecret } from '../server/store/secrets.ts';

export const PEPPER = 'bench';

export interface Seed {
  organizationId: string;
  secret: string;
  secretId: string;
  environmentId: string;
  installationId: string;
}

/**
 * Adds an organization with a secret, a machine and an agent to a store, and then runs `more`. `issuer` and `owner` identify
 * the organization's owner in tokens.
 */
export async function seed<More>(
  where: Pick<StoreOptions, 'dataDir' | 'databaseUrl'>,
  issuer: string,
  owner: string,
  more: (store: Store, seed: Seed) => Promise<More>,
): Promise<Seed & More> {
  // A statement that fills the store may take minutes.
  const store = await openStore({ ...where, patience: { silentMs: 0 }, onError: console.error });
  try {
    const now = Date.now();
    const claims = { issuer, subject: owner, email: `${owner}@example.com`, emailVerified: true };
    const founder = await resolveCaller(store.db, claims, now);
    const { organization_id: organizationId } = await createOrganization(store.db, owner, founder, now);
    const plane: Plane = 'live';
    const secret = newSecretValue(plane);
    const record = {
      organizationId,
      name: 'bench',
      plane,
      hash: hashSecret(PEPPER, secret),
      createdBy: founder.userId,
    };
    const issued = { ...record, prefix: secret.slice(0, 12), lastFour: secret.slice(-4) };
    const { secret_id: secretId } = await store.db
      .transaction()
      .execute((transaction) => addSecret(transaction, issued, now));
    const machine = { hostname: 'bench', platform: 'linux' as const, serviceCliVersion: '0.1.0' };
    const { row } = await registerEnvironment(store.db, { organizationId, secretId }, machine, now);
    const environmentId = row.environment_id;
    const installation = await upsertInstallation(
      store.db,
      organizationId,
      { agentId: 'codex', environmentId },
      by(secretId),
      now,
    );
    const seeded = { organizationId, secret, secretId, environmentId, installationId: installation.installation_id };
    return { ...seeded, ...(await more(store, seeded)) };
  } finally {
    await store.close();
  }
}

/** Opens `count` sessions in one transaction. */
export async function seedSessions(store: Store, seeded: Seed, count: number): Promise<string[]> {
  const ids: string[] = [];
  const session: Omit<Opening, 'startedAt'> = {
    organizationId: seeded.organizationId,
    secretId: seeded.secretId,
    environmentId: seeded.environmentId,
    installationId: seeded.installationId,
    agentId: 'codex',
    plane: 'live',
    title: 'bench',
    repoRoot: undefined,
    gitBranch: undefined,
  };
  await store.db.transaction().execute(async (transaction) => {
    for (let i = 0; i < count; i++) {
      const row = await openSession(transaction, { ...session, startedAt: Date.now() - i * 60_000 }, Date.now());
      ids.push(row.session_id);
    }
  });
  return ids;
}

/** Writes `count` events of about 1 KiB into the session, in appends of 50. */
export async function seedEvents(
  store: Store,
  seeded: Seed,
  sessionId: string,
  count: number,
  makeEvent: (bytes: number) => { eventType: string; payload: object },
): Promise<void> {
  await store.db.transaction().execute(async (transaction) => {
    for (let first = 1; first <= count; first += 50) {
      const events = Array.from({ length: Math.min(50, count - first + 1) }, () => makeEvent(1024));
      const framed = events.map(({ eventType, payload }) => ({
        eventType,
        payload: Buffer.from(JSON.stringify(payload)),
      }));
      await transaction
        .insertInto('appends')
        .values({
          session_id: sessionId,
          first_sequence: first,
          last_sequence: first + events.length - 1,
          organization_id: seeded.organizationId,
          append_id: newUuid(),
          created_at: Date.now(),
          idempotency_key: null,
          fingerprint: null,
          ...pack(encodeFrame(framed)),
        })
        .execute();
    }
    await transaction.updateTable('sessions').set({ event_count: count }).where('session_id', '=', sessionId).execute();
  });
}
