import { generateKeyPairSync } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { EXTENSIONS } from '../../contract/extensions.ts';
import type { PolicyBody } from '../../contract/policy.ts';
import { Problem } from '../../contract/problem.ts';
import type { Route } from '../../contract/route.ts';
import { ROUTES } from '../../contract/routes.ts';
import { AuditKey } from '../audit/heads.ts';
import type { Config } from '../config.ts';
import type { Identity } from '../identity/identity.ts';
import { createLogger } from '../logger.ts';
import { createService } from '../service.ts';
import type { Store } from '../store/open.ts';
import { allRows } from '../store/rows.ts';

/** How much of a large store is read. */
const MOST_ORGANIZATIONS = 100;
const MOST_SESSIONS = 20;

export interface Replayed {
  answers: number;
  /** A line for each read with a wrong answer. */
  findings: string[];
}

interface OwnerRow {
  organization_id: string;
  issuer: string;
  subject: string;
  email: string | null;
}

/**
 * Calls every reading route as the owners of the organizations, and reads the newest sessions completely. The store must be a
 * copy, because the service that runs on it does its usual work.
 */
export async function replayReads(store: Store, config: Config): Promise<Replayed> {
  const owners = await listOwners(store);
  await showEverything(store);
  const app = await createService({
    config: { ...config, ...AS_IT_IS },
    store,
    identity: identityOf(owners),
    auditKey: new AuditKey(generateKeyPairSync('ed25519').privateKey),
    publicUrl: 'http://localhost',
    log: createLogger('silent', { write: () => undefined }),
  });
  try {
    await app.ready();
    const reader = new Reader(app);
    for (const { organization_id: organizationId } of owners) await readOrganization(reader, store, organizationId);
    return reader;
  } finally {
    await app.close();
  }
}

/** Settings with which the service refuses no request and deletes no old session. */
const AS_IT_IS = {
  DATABASE_URL: undefined,
  BUS_URL: undefined,
  ROLE: 'all',
  RETENTION_DAYS: 0,
  RATE_LIMIT_SECRET: 0,
  RATE_LIMIT_USER: 0,
  RATE_LIMIT_ADDRESS: 0,
} as const satisfies Partial<Config>;

const listOwners = ({ db }: Store) =>
  allRows(
    db,
    sql<OwnerRow>`
      select organizations.organization_id, users.issuer, users.subject, users.email
      from organizations
      join members on members.organization_id = organizations.organization_id
        and members.role = 'owner' and members.status = 'active'
      join users on users.user_id = members.user_id
      where organizations.status = 'active' order by 1 limit ${MOST_ORGANIZATIONS}`,
  );

/** Lets the owners see all sessions, so that no unreadable session goes unnoticed. */
async function showEverything({ db }: Store): Promise<void> {
  const policy = JSON.stringify({ adminsSeeAll: true } satisfies PolicyBody);
  await sql`
    insert into policies (organization_id, policy, updated_at)
    select organization_id, ${policy}, 0 from organizations where status = 'active'
    on conflict (organization_id) do update set policy = excluded.policy`.execute(db);
}

/** Accepts the id of an organization as a token of its owner. That is safe, because only this process can send requests. */
function identityOf(owners: readonly OwnerRow[]): Identity {
  const byOrganization = new Map(owners.map((owner) => [owner.organization_id, owner]));
  const notNow = () => Promise.reject(new Problem('service_unavailable', 'A check only reads.'));
  return {
    bootstrap: () => ({ idpUserPoolId: '', idpClientId: '', idpRegion: '', idpDomain: '' }),
    async verify(token) {
      const owner = byOrganization.get(token);
      if (!owner) throw new Problem('token_invalid', 'A check reads as the owners.');
      const { issuer, subject, email } = owner;
      return { issuer, subject, emailVerified: email !== null, ...(email === null ? {} : { email }) };
    },
    assignTenant: notNow,
    invite: notNow,
    origins: async () => [],
  };
}

class Reader implements Replayed {
  answers = 0;
  readonly findings: string[] = [];
  readonly #app: FastifyInstance;

  constructor(app: FastifyInstance) {
    this.#app = app;
  }

  /** Returns the body, or undefined if the status is not 200. Any status other than 200 and `mayRefuse` is a finding. */
  async read(organizationId: string, url: string, mayRefuse?: number): Promise<Record<string, unknown> | undefined> {
    const reply = await this.#app.inject({ url, headers: { authorization: `Bearer ${organizationId}` } });
    this.answers++;
    if (reply.statusCode === 200) return reply.json() as Record<string, unknown>;
    if (reply.statusCode === mayRefuse) return undefined;
    this.findings.push(`${organizationId} GET ${url} has status ${reply.statusCode}: ${reply.body.slice(0, 200)}`);
    return undefined;
  }
}

/** The status with which routes may refuse: an existing session has no deletion receipt, and only its person sees who looked. */
const REFUSALS: Record<string, number> = {
  [EXTENSIONS.getDeletionReceipt.path]: 404,
  [EXTENSIONS.listSessionViews.path]: 403,
};

async function readOrganization(reader: Reader, { db }: Store, organizationId: string): Promise<void> {
  for (const { path } of READS) if (!path.includes('{')) await reader.read(organizationId, path);
  const sessions = await allRows(
    db,
    sql<{ session_id: string; event_count: number }>`
      select session_id, event_count from sessions
      where organization_id = ${organizationId} and deleted_at is null
      order by started_at desc, session_id desc limit ${MOST_SESSIONS}`,
  );
  for (const { session_id: sessionId, event_count: eventCount } of sessions) {
    for (const { path } of READS) {
      const url = path.replace('{sessionId}', sessionId);
      if (url !== path && !url.includes('{')) await reader.read(organizationId, url, REFUSALS[path]);
    }
    const events = await countEvents(reader, organizationId, sessionId);
    if (events !== undefined && events !== eventCount)
      reader.findings.push(`${sessionId} shows ${events} of its ${eventCount} events`);
  }
}

/** Returns undefined if the events cannot be read; that is already a finding. */
async function countEvents(reader: Reader, organizationId: string, sessionId: string): Promise<number | undefined> {
  const path = `/v1/organizations/me/sessions/${sessionId}/events?limit=1000`;
  let count = 0;
  for (let cursor: unknown = ''; typeof cursor === 'string'; ) {
    const page = await reader.read(
      organizationId,
      cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`,
    );
    if (!page) return undefined;
    count += Array.isArray(page.events) ? page.events.length : 0;
    cursor = page.nextCursor;
  }
  return count;
}

/** The routes of members that need no parameter in the query. */
const READS = Object.values<Route>({ ...ROUTES, ...EXTENSIONS }).filter(
  ({ method, auth, query, contentType }) =>
    method === 'GET' &&
    (auth === 'member' || auth === 'admin') &&
    contentType === undefined &&
    !(query?.required?.length ?? 0),
);
