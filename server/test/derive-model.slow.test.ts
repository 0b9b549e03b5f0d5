import fc from 'fast-check';
import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience, runs } from '../../contract/test/runs.ts';
import { splitPayload } from '../../transcript/parts.ts';
import { purgeRemoved } from '../erase/purge.ts';
import { SessionLog } from '../ingest/session-log.ts';
import { removeAllDerived } from '../store/derived-removal.ts';
import type { Db } from '../store/schema.ts';
import { chunksWith, createDeriveHere, derive, readDerived } from './derived.ts';
import { attach, ENGINES, openTestStore, type TestStore } from './engines.ts';
import { createTenant, openSession, registerMachine, type Tenant } from './factories.ts';
import { startTestService } from './harness.ts';

const SESSIONS = 3;

interface Event {
  eventType: string;
  payload: object;
}

const source = (more: object) => ({ agent: 'codex', session: 's', file: 'f', position: 0, ...more });
const time = (minute: number) => ({ occurredAt: new Date(Date.UTC(2026, 9, 30) + minute * 60_000).toISOString() });

/** An event, or a few events that belong together. */
const made: fc.Arbitrary<Event[]> = fc.oneof(
  fc
    .tuple(fc.nat(6_000), fc.nat(3))
    .map(([minute, at]) => [
      { eventType: 'user.message', payload: { text: `please w${minute}`, ...(at > 0 && time(minute)) } },
    ]),
  fc.tuple(fc.nat(6_000), fc.nat(20), fc.boolean()).map(([minute, id, isError]) => [
    {
      eventType: 'tool.call',
      payload: { callId: `c${id}`, name: `tool${id % 3}`, input: { command: `npm test w${id}` }, ...time(minute) },
    },
    { eventType: 'tool.result', payload: { callId: `c${id}`, output: 'out', isError, ...time(minute + 1) } },
  ]),
  fc.tuple(fc.nat(6_000), fc.nat(9), fc.nat(500)).map(([minute, id, inputTokens]) => [
    {
      eventType: 'usage',
      payload: {
        responseId: `r${id}`,
        model: `claude-opus-4-${id % 2}`,
        inputTokens,
        outputTokens: 5,
        ...time(minute),
      },
    },
  ]),
  fc
    .nat(5)
    .map((n) => [
      { eventType: 'session.meta', payload: { cwd: `/home/dev${n}/shop`, repository: `git@host.test:o/r${n}.git` } },
    ]),
  // A rewritten record, sometimes with fewer events.
  fc.tuple(fc.nat(3), fc.nat(4), fc.boolean()).map(([record, revision, isShort]) => [
    {
      eventType: 'user.message',
      payload: { source: source({ record: `m${record}`, revision, index: 0 }), text: 'a' },
    },
    ...(isShort
      ? []
      : [{ eventType: 'error', payload: { source: source({ record: `m${record}`, revision, index: 1 }) } }]),
  ]),
  // A payload in parts, sometimes without the last part. It is frequent, so that many appends end within a payload.
  {
    weight: 3,
    arbitrary: fc.tuple(fc.nat(9), fc.boolean()).map(([position, isCut]) => {
      const payload = { source: source({ position }), text: `joined${position} ${'x'.repeat(700)}` };
      const parts = splitPayload(payload.source as never, JSON.stringify(payload), 400);
      return parts.slice(0, isCut ? -1 : undefined).map((part) => ({ eventType: 'user.message', payload: part }));
    }),
  },
);

type Step =
  /**
   * Appends earlier events that were not sent yet, then new ones, so that events of one group are spread over several appends.
   */
  | { kind: 'append'; session: number; events: Event[]; sent: number; isDerived: boolean }
  | { kind: 'derive'; session: number; by: number }
  | { kind: 'derive at once'; session: number }
  | { kind: 'derive and stop'; session: number; queries: number }
  | { kind: 'close'; session: number }
  | { kind: 'delete'; session: number };

const session = fc.nat(SESSIONS - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      session,
      events: fc.array(made, { minLength: 1, maxLength: 25, size: 'max' }).map((groups) => groups.flat()),
      sent: fc.integer({ min: 1, max: 50 }),
      isDerived: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('derive' as const), session, by: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('derive at once' as const), session }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('derive and stop' as const),
      session,
      queries: fc.integer({ max: 14, min: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('close' as const, 'delete' as const), session }) },
);

interface Read {
  eventType: string;
  payload: { [name: string]: unknown; source?: { record?: string; revision?: number; index?: number } };
}

/** The events with whole payloads; of a rewritten record only its latest version. */
function standing(events: readonly Event[]): Read[] {
  const whole: Read[] = [];
  for (let at = 0; at < events.length; at++) {
    const { eventType, payload } = events[at] as { eventType: string; payload: { of?: number; json?: string } };
    const run = events
      .slice(at, at + (payload.of ?? 1))
      .map((event) => event.payload as { part?: number; json?: string });
    const isWhole = run.every(({ part }, index) => payload.of === undefined || part === index + 1);
    if (payload.of === undefined) whole.push({ eventType, payload } as Read);
    else if (isWhole && run.length === payload.of) {
      whole.push({ eventType, payload: JSON.parse(run.map(({ json }) => json).join('')) });
      at += payload.of - 1;
    }
  }
  const writings = new Map<string, { revision: number; events: Read[] }>();
  const once: Read[] = [];
  for (const event of whole) {
    const { record, revision = 0, index } = event.payload.source ?? {};
    const known = writings.get(record ?? '');
    if (record === undefined) once.push(event);
    else if (index === 0 && revision >= (known?.revision ?? 0)) writings.set(record, { revision, events: [event] });
    else if (index !== 0 && revision === known?.revision) known.events.push(event);
  }
  return [...once, ...[...writings.values()].flatMap((writing) => writing.events)];
}

/** A session's expected figures, counted in the simplest way. */
function count(events: readonly Event[]) {
  const all = standing(events);
  const of = (eventType: string) => all.filter((event) => event.eventType === eventType);
  const responses = new Map<unknown, number>();
  for (const { payload } of of('usage')) {
    const { responseId, inputTokens } = payload;
    responses.set(responseId, Math.max(responses.get(responseId) ?? 0, inputTokens as number));
  }
  return {
    prompts: of('user.message').length,
    tool_calls: of('tool.call').length,
    failures: of('error').length + of('tool.result').filter(({ payload }) => payload.isError).length,
    input_tokens: [...responses.values()].reduce((sum, tokens) => sum + tokens, 0),
  };
}

const isRevised = (payload: object) => (payload as Read['payload']).source?.revision !== undefined;

/** A store that fails after this many queries. */
function failingAfter(db: Db, queries: number): Db {
  let asked = 0;
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      if (++asked > queries) throw new Error('the process was stopped');
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return db.withPlugin(plugin);
}

describe.each(ENGINES)('derived data on %s', (engine) => {
  let store: TestStore;
  let other: TestStore;
  let tenant: Tenant;
  let log: SessionLog;
  let makeSession: () => Promise<string>;
  const waiting = new Map<string, Event[]>();
  const sent = new Map<string, Event[]>();
  /** What each process has in memory about the sessions that it derived. */
  const processes = [createDeriveHere(), createDeriveHere()];

  beforeAll(async () => {
    store = await openTestStore(engine);
    // An embedded store has one process, so the other replica is another run on the same store.
    other = engine === 'postgres' ? await attach(store.dataDir, store.databaseUrl) : store;
    const service = await startTestService(engine, {}, store);
    tenant = await createTenant(service);
    const machine = await registerMachine(service, tenant.live);
    const ids = await Promise.all(Array.from({ length: 600 }, () => openSession(service, tenant.live, machine)));
    await service.close();
    await removeAllDerived(store.db);
    makeSession = async () => ids.pop() as string;
    log = new SessionLog({
      db: store.db,
      journal: store.journal,
      committed: () => undefined,
      now: () => Date.UTC(2026, 10, 1),
    });
  });
  afterAll(async () => {
    if (other !== store) await other.close();
    await store.dispose();
  });

  async function take(one: Step, sessionId: string): Promise<void> {
    const { organizationId } = tenant;
    const place = { organizationId, plane: 'live', sessionId } as const;
    if (one.kind === 'append') {
      // Only the first session has rewritten records, which make it fold everything again. The other sessions continue
      // incrementally.
      const added = one.session === 0 ? one.events : one.events.filter(({ payload }) => !isRevised(payload));
      const all = [...(waiting.get(sessionId) ?? []), ...added];
      const some = all.slice(0, one.sent);
      const events = some.map(({ eventType, payload }) => ({
        eventType,
        payload: Buffer.from(JSON.stringify(payload)),
      }));
      const batch = { ...place, sender: 'a', idempotencyKey: null, fingerprint: '', events };
      const isTaken = await log.append(batch).then(
        () => true,
        () => false,
      );
      if (!isTaken) return;
      waiting.set(sessionId, all.slice(one.sent));
      sent.set(sessionId, [...(sent.get(sessionId) ?? []), ...some]);
      if (one.isDerived) await derive(store.db, organizationId, sessionId, processes[0]);
    } else if (one.kind === 'close') {
      await log.close({ ...place, status: 'completed', endedAt: undefined }).catch(() => undefined);
    } else if (one.kind === 'delete') {
      await log.delete(place).catch(() => undefined);
      await purgeRemoved(store.db, () => 1);
    } else if (one.kind === 'derive') {
      await derive(one.by === 0 ? store.db : other.db, organizationId, sessionId, processes[one.by]);
    } else if (one.kind === 'derive at once') {
      await Promise.all([store, other].map(({ db }, by) => derive(db, organizationId, sessionId, processes[by])));
    } else {
      await derive(failingAfter(store.db, one.queries), organizationId, sessionId, processes[0]).catch(() => undefined);
      // By the time the others look, the claim of the stopped process has expired.
      await store.db.updateTable('session_facts').set({ claimed_until: 0 }).execute();
    }
  }

  test(
    'equals the result of one pass over all events after any order of steps',
    async () => {
      const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
        const ids = await Promise.all(Array.from({ length: SESSIONS }, makeSession));
        for (const one of steps) await take(one, String(ids[one.session]));
        for (const id of ids) await derive(store.db, tenant.organizationId, id, processes[0]);
        const grown = await readDerived(store);
        for (const { session_id, ...row } of grown.facts) {
          expect(row).toMatchObject(count(sent.get(session_id) ?? []));
        }
        await removeAllDerived(store.db);
        expect((await readDerived(store)).sums).toEqual([]);
        for (const id of ids) await derive(other.db, tenant.organizationId, id);
        expect(grown).toEqual(await readDerived(store));
        // A chunk lists only the words that it brought to its row of the index.
        const rows = Map.groupBy(grown.chunks, (chunk) => `${chunk.session_id} ${chunk.rowFirst}`);
        for (const chunks of rows.values()) {
          const [{ session_id, rowFirst }] = chunks as [(typeof chunks)[number]];
          for (const word of ['joined1', 'please', 'out']) {
            const found = await chunksWith(store, session_id, word);
            expect(found.includes(rowFirst), word).toBe(chunks.some(({ words }) => words.includes(word)));
          }
        }
        for (const id of ids) await take({ kind: 'delete', session: 0 }, id);
        expect(await readDerived(store)).toEqual({
          facts: [],
          values: [],
          chunks: [],
          days: [],
          sums: [],
        });
      });
      await fc.assert(property, { ...runs(12), endOnFailure: true });
    },
    patience(180_000),
  );
});
