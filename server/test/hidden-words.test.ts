import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseQuery } from '../../contract/query.ts';
import type { Visibility } from '../../contract/session.ts';
import { UTC } from '../../contract/time-zone.ts';
import { deriveSession } from '../derive/derive-session.ts';
import { SessionLog } from '../ingest/session-log.ts';
import { findInSession } from '../search/find-in-session.ts';
import { createMatcher } from '../search/matcher.ts';
import { search } from '../search/search-sessions.ts';
import type { Db } from '../store/schema.ts';
import { giveSessions } from '../store/session-rows.ts';
import { findSession } from '../store/sessions.ts';
import { asReadable, type Viewer, wholeOrganization } from '../store/viewer.ts';
import { changeVisibility } from '../store/visibility.ts';
import { byIndex, findByWords, prefixesOf } from '../store/word-index.ts';
import { createDeriveHere, VERSION_HERE } from './derived.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { createTenant, openSession, registerMachine, type Tenant } from './factories.ts';
import { startTestService } from './harness.ts';

const WORD = 'zanzibar';
const NOW = Date.UTC(2026, 10, 1);
const EVERYONE = ['author', 'colleague', 'all'];

describe.each(ENGINES)('the index of words on %s', (engine) => {
  let store: TestStore;
  let db: Db;
  let tenant: Tenant;
  let viewers: Record<string, Viewer>;
  let sessionId: string;

  beforeAll(async () => {
    store = await openTestStore(engine);
    db = store.db;
    const service = await startTestService(engine, {}, store);
    tenant = await createTenant(service);
    const machine = await registerMachine(service, tenant.live);
    sessionId = await openSession(service, tenant.live, machine);
    // Each step of deriving is made here, so no other process may derive.
    await service.close();
    const { organizationId } = tenant;
    viewers = {
      author: { organizationId, userId: 'usr_author', seesAll: false },
      colleague: { organizationId, userId: 'usr_colleague', seesAll: false },
      all: { organizationId, userId: 'usr_admin', seesAll: true },
    };
    const log = new SessionLog({ db, journal: store.journal, committed: () => undefined, now: () => NOW });
    await log.append({
      ...{ organizationId, plane: 'live', sessionId, sender: 'a' },
      ...{
        idempotencyKey: null,
        fingerprint: '',
        events: [{ eventType: 'user.message', payload: Buffer.from(JSON.stringify({ text: WORD })) }],
      },
    });
    await give('usr_author');
    await derive();
  });
  afterAll(() => store.dispose());

  const deriveHere = createDeriveHere();
  const derive = (meanwhile = async () => {}) =>
    deriveSession(
      {
        db,
        version: VERSION_HERE,
        now: () => NOW,
        rest: async () => {},
        signal: new AbortController().signal,
        async derive(job) {
          await meanwhile();
          return deriveHere(job);
        },
      },
      tenant.organizationId,
      sessionId,
    );

  async function change(to: Visibility): Promise<void> {
    const decider = { viewer: viewers.author as Viewer, userId: 'usr_author', isAdmin: false };
    expect(await changeVisibility(db, decider, sessionId, to, NOW)).toBeDefined();
  }

  const give = (userId: string) =>
    db.transaction().execute((transaction) => giveSessions(transaction, sql`session_id = ${sessionId}`, userId));

  /** Who has rows of the index to read for the word, whether they may read the session or not. */
  const readers = () =>
    whoFinds((viewer) =>
      byIndex(db, async (db) => {
        const searched = { organizationId: viewer.organizationId, prefixes: await prefixesOf(db, viewer) };
        return (await findByWords(db, searched, [[[{ word: WORD, open: false }]]], 100)) ?? [];
      }),
    );
  /** Whose search finds the session. */
  const finders = () =>
    whoFinds(async (viewer) => {
      const { found } = await search(db, {
        ...{ viewer, planes: ['live'], query: parseQuery(WORD), order: 'started', direction: 'desc' },
        ...{ limit: 50, now: NOW, calendar: UTC },
      });
      return found;
    });
  async function whoFinds(find: (viewer: Viewer) => Promise<readonly unknown[]>): Promise<string[]> {
    const found: string[] = [];
    for (const [name, viewer] of Object.entries(viewers)) if ((await find(viewer)).length > 0) found.push(name);
    return found;
  }

  test('gives nobody rows of sessions that they may not read, after each change of who may', async () => {
    expect([await readers(), await finders()]).toEqual([EVERYONE, EVERYONE]);
    await change('private');
    expect(await finders()).toEqual(['author', 'all']);
    await derive();
    expect([await readers(), await finders()]).toEqual([
      ['author', 'all'],
      ['author', 'all'],
    ]);
    await change('facts');
    await give('usr_colleague');
    await derive();
    expect([await readers(), await finders()]).toEqual([
      ['colleague', 'all'],
      ['colleague', 'all'],
    ]);
    await give('usr_author');
    await derive();
    await change('team');
    await derive();
    expect([await readers(), await finders()]).toEqual([EVERYONE, EVERYONE]);
  });

  test.each<[string, Visibility, string[]]>([
    ['hidden', 'private', ['author', 'all']],
    ['shown to the team', 'team', EVERYONE],
  ])('has no words at the former place if a session is %s while it is derived', async (_, to, who) => {
    // The session is derived again. The work has read who may read the session before the change.
    await db.updateTable('session_facts').set({ version: 1, is_final: 0 }).execute();
    await derive(() => change(to));
    await derive();
    expect([await readers(), await finders()]).toEqual([who, who]);
  });

  test('finds words in a session while they move to other people', async () => {
    await change('private');
    const row = await findSession(db, wholeOrganization(tenant.organizationId), sessionId);
    const session = row && asReadable(viewers.author as Viewer, row);
    if (!session) throw new Error('the author may not read the session');
    const found = await findInSession(db, session, createMatcher([{ text: WORD }]), 1);
    expect(found.hits).toMatchObject([{ sequence: 1 }]);
    await derive();
    await change('team');
    await derive();
  });

  test('is searched for everyone who has sessions, if the viewer sees all', async () => {
    const row = await findSession(db, viewers.all as Viewer, sessionId);
    if (!row) throw new Error('there is no session');
    for (let n = 0; n < 400; n++) {
      const of = {
        session_id: `${sessionId}-${n}`,
        user_id: `usr_${n}`,
        visibility: 'private' as const,
        client_key: null,
      };
      await db
        .insertInto('sessions')
        .values({ ...row, ...of })
        .execute();
    }
    expect(await prefixesOf(db, viewers.all as Viewer)).toHaveLength(1 + 1 + 400 + 1);
    expect(await prefixesOf(db, viewers.colleague as Viewer)).toHaveLength(2);
    expect(await finders()).toEqual(EVERYONE);
  });
});
