import { join } from 'node:path';
import { Kysely } from 'kysely';
import { expect, test } from 'vitest';
import { SessionLog } from '../ingest/session-log.ts';
import type { Tables } from '../store/schema.ts';
import { sqliteDialect, type Threads } from '../store/sqlite/driver.ts';
import type { Job } from '../store/sqlite/jobs.ts';
import { openFile } from '../store/sqlite/open-file.ts';
import { createDeriveHere, derive } from './derived.ts';
import { openTestStore } from './engines.ts';
import { createTenant, openSession, registerMachine } from './factories.ts';
import { startTestService } from './harness.ts';

const EVENTS = [
  { eventType: 'session.meta', payload: { model: 'a-model', cwd: '/src' } },
  { eventType: 'user.message', payload: { text: 'make it work' } },
  { eventType: 'assistant.message', payload: { text: 'it works', model: 'a-model' } },
];

test("deriving a slice of a session takes one message and one transaction on SQLite's writer thread", async () => {
  const store = await openTestStore('sqlite');
  const service = await startTestService('sqlite', {}, store);
  const { organizationId, live } = await createTenant(service);
  const sessionId = await openSession(service, live, await registerMachine(service, live));
  await service.close();
  await store.close();

  const file = await openFile(join(store.dataDir, 'session-capture.sqlite'), () => undefined);
  const jobs: string[] = [];
  const counting = <Thread extends Pick<Threads['writer'], 'run'>>(name: string, thread: Thread): Thread =>
    new Proxy(thread, {
      get(target, property) {
        const value = Reflect.get(target, property);
        if (property !== 'run') return typeof value === 'function' ? value.bind(target) : value;
        return (job: Job) => {
          jobs.push(`${name} ${job.kind}`);
          return target.run(job);
        };
      },
    });
  const threads = {
    ...file,
    writer: counting('writer', file.writer),
    reader: counting('reader', file.reader as never),
  };
  const db = new Kysely<Tables>({ dialect: sqliteDialect(threads) });
  const log = new SessionLog({ db, journal: file.journal, committed: () => undefined, now: Date.now });
  const append = () => {
    const events = EVENTS.map(({ eventType, payload }) => ({
      eventType,
      payload: Buffer.from(JSON.stringify(payload)),
    }));
    const place = { organizationId, plane: 'live', sessionId, sender: 'a' } as const;
    return log.append({ ...place, idempotencyKey: null, fingerprint: '', events });
  };
  const deriveHere = createDeriveHere();

  await append();
  await derive(db, organizationId, sessionId, deriveHere);
  await append();
  jobs.length = 0;
  await derive(db, organizationId, sessionId, deriveHere);
  // Three reads: the session with its derived rows, how far it is derived, and the appends.
  expect(jobs).toEqual(['reader query', 'reader query', 'reader query', 'writer derived']);
  const { derived_through } = await db.selectFrom('session_facts').select('derived_through').executeTakeFirstOrThrow();
  expect(derived_through).toBe(2 * EVENTS.length);
  await db.destroy();
  await store.dispose();
});
