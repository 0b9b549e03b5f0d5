import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SessionLog } from '../ingest/session-log.ts';
import { removeAllDerived } from '../store/derived-removal.ts';
import type { Db } from '../store/schema.ts';
import { createDeriveHere, derive, readDerived } from './derived.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { createTenant, openSession, registerMachine, type Tenant } from './factories.ts';
import { startTestService } from './harness.ts';

/** As many events as a chunk has. */
const EVENTS = 64;
const SLICES = 5;

interface SentEvent {
  eventType: string;
  payload: object;
}

const batch = (make: (n: number) => SentEvent): SentEvent[] => Array.from({ length: EVENTS }, (_, n) => make(n));

/** A sub-agent's call as it is repeated in the session's own file. */
const repeated = (agentId: string) => (n: number) => {
  const content = [{ type: 'tool_use', id: `call-${n}`, name: 'Bash', input: { command: `echo ${n}` } }];
  const message = { message: { role: 'assistant', content, model: 'm' } };
  return { eventType: 'notice', payload: { kind: 'agent_progress', rest: { data: { agentId, message } } } };
};

const ofSubagent = (subagent: string) => (n: number) => ({
  eventType: 'tool.call',
  payload: { source: { subagent }, callId: `own-${n}`, name: 'Bash', input: { command: `echo ${n}` } },
});

const written = (revision: number) => (n: number) => ({
  eventType: 'user.message',
  payload: { source: { record: `record-${n}`, revision, index: 0 }, text: `please ${n}` },
});

/** Counts the chunks whose entries are read through the returned `db`. */
function countChunks({ db }: TestStore): { db: Db; chunksRead: () => number } {
  let count = 0;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      count += result.rows.filter((row) => 'entries' in row).length;
      return result;
    },
  };
  return { db: db.withPlugin(plugin), chunksRead: () => count };
}

describe.each(ENGINES)('a session with repeated or rewritten records on %s', (engine) => {
  let store: TestStore;
  let tenant: Tenant;
  let append: (sessionId: string, events: readonly SentEvent[]) => Promise<void>;
  let makeSession: () => string;

  beforeAll(async () => {
    store = await openTestStore(engine);
    const service = await startTestService(engine, {}, store);
    tenant = await createTenant(service);
    const machine = await registerMachine(service, tenant.live);
    const ids = await Promise.all([1, 2].map(() => openSession(service, tenant.live, machine)));
    makeSession = () => String(ids.pop());
    await service.close();
    const { db, journal } = store;
    const log = new SessionLog({ db, journal, committed: () => undefined, now: () => Date.UTC(2026, 10, 1) });
    append = async (sessionId, events) => {
      await log.append({
        ...{ organizationId: tenant.organizationId, plane: 'live', sessionId, sender: 'a' },
        ...{ idempotencyKey: null, fingerprint: '' },
        events: events.map(({ eventType, payload }) => ({ eventType, payload: Buffer.from(JSON.stringify(payload)) })),
      });
    };
  });
  afterAll(() => store.dispose());

  /** Derives after each batch. @returns the number of chunks that were read for each batch */
  async function deriveEach(sessionId: string, batches: readonly SentEvent[][]): Promise<number[]> {
    const { db, chunksRead } = countChunks(store);
    const deriveHere = createDeriveHere();
    const read: number[] = [];
    for (const events of batches) {
      const before = chunksRead();
      await append(sessionId, events);
      await derive(db, tenant.organizationId, sessionId, deriveHere);
      read.push(chunksRead() - before);
    }
    return read;
  }

  /** Expects the result of one pass over all events. */
  async function expectAsOfOnePass(sessionId: string): Promise<void> {
    const grown = await readDerived(store);
    await removeAllDerived(store.db);
    await derive(store.db, tenant.organizationId, sessionId);
    expect(grown).toEqual(await readDerived(store));
    await removeAllDerived(store.db);
  }

  test('reads its chunks again only if a repeated sub-agent gets its own transcript', async () => {
    const sessionId = makeSession();
    const batches = [
      ...Array.from({ length: SLICES }, () => batch(repeated('one'))),
      batch(ofSubagent('two')),
      batch(repeated('two')),
      batch(ofSubagent('one')),
      batch(repeated('one')),
    ];
    const read = await deriveEach(sessionId, batches);
    expect(read).toEqual([...Array.from({ length: SLICES + 2 }, () => 0), SLICES + 2, 0]);
    await expectAsOfOnePass(sessionId);
  });

  test('reads its chunks again only if a record is rewritten', async () => {
    const sessionId = makeSession();
    const batches = [batch(written(1)), batch(repeated('one')), batch(written(2)), batch(repeated('one'))];
    expect(await deriveEach(sessionId, batches)).toEqual([0, 0, 2, 0]);
    await expectAsOfOnePass(sessionId);
  });
});
