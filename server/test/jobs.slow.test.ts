import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Background } from '../background.ts';
import { type JobKind, Jobs, Unrepairable } from '../jobs.ts';
import { cancelJob, insertJob, noteProgress, takeJob } from '../store/jobs.ts';
import { allRows } from '../store/rows.ts';
import type { Db, JobRow } from '../store/schema.ts';
import { ENGINES } from './engines.ts';
import { countWrites } from './plans.ts';
import { startWorld, type World } from './world.ts';

const MINUTE_MS = 60_000;

describe.each(ENGINES)('a long job on %s', (engine) => {
  let world: World;
  let now: number;
  let row: Pick<JobRow, 'job_id' | 'organization_id' | 'kind'>;
  let processes: Process[];
  beforeEach(async () => {
    world = await startWorld(engine);
    now = world.service.clock.now;
    processes = [];
    row = { job_id: 'job_1', organization_id: world.ours.organizationId, kind: 'counting' };
    await insertJob(world.service.store.db, row);
  });
  afterEach(async () => {
    for (const { background } of processes) await background.close();
    await world.service.close();
  });

  interface Process {
    jobs: Jobs;
    background: Background;
    /** The numbers that its slices counted. */
    done: number[];
    errors: Error[];
    failed: string[];
  }

  /** Counts to five, one number in each slice. @param before called at the start of each slice */
  function startProcess(before: (next: number) => unknown = () => undefined, db: Db = world.service.store.db): Process {
    const errors: Error[] = [];
    const onError = (error: unknown) => void errors.push(error as Error);
    const background = new Background({ atOnce: 2, onError });
    const jobs = new Jobs({ db, background, now: () => now, onError });
    const [done, failed]: [number[], string[]] = [[], []];
    const counting: JobKind = {
      async *work(job) {
        for (let next = Number(job.progress) + 1; next <= 5; next++) {
          await before(next);
          done.push(next);
          job.progress = String(next);
          yield 0;
        }
      },
      async fail({ job_id, organization_id }) {
        failed.push(job_id);
        await cancelJob(db, organization_id, job_id);
      },
    };
    jobs.register('counting', counting);
    const started = { jobs, background, done, errors, failed };
    processes.push(started);
    return started;
  }

  const rows = () => allRows(world.service.store.db, sql<JobRow>`select * from jobs`);

  test('continues where its process stopped, and is removed at the end', async () => {
    const stopped = Promise.withResolvers<void>();
    const first = startProcess((next) => {
      if (next === 3) stopped.resolve();
    });
    void first.jobs.start(row);
    await stopped.promise;
    await first.background.close();
    const [left] = await rows();
    expect(first.done.length).toBeLessThan(5);
    expect(Number(left?.progress)).toBe(first.done.at(-1));
    const next = startProcess();
    await next.jobs.start(row);
    expect([...first.done, ...next.done]).toEqual([1, 2, 3, 4, 5]);
    expect(await rows()).toEqual([]);
    expect([...first.errors, ...next.errors]).toEqual([]);
  });

  test('belongs to one process at a time: a process that lost it stops', async () => {
    const { db } = world.service.store;
    const first = startProcess(async (next) => {
      if (next !== 3) return;
      await sql`update jobs set not_before = 0`.execute(db);
      expect(await takeJob(db, row, now)).toMatchObject({ progress: '2' });
    });
    await first.jobs.start(row);
    expect(first.done).toEqual([1, 2, 3]);
    expect(await rows()).toMatchObject([{ progress: '2' }]);
    if (engine === 'postgres') {
      const second = startProcess();
      await second.jobs.start(row);
      expect(second.done).toEqual([]);
      // The process that has the job was killed.
      now += 3 * MINUTE_MS;
      await second.jobs.start(row);
      expect(second.done).toEqual([3, 4, 5]);
    }
  });

  test('that waits writes nothing but the renewal of its lease, and ends when it is cancelled', async () => {
    const { writes, db } = countWrites(world.service.store.db);
    const { jobs, errors } = startProcess(undefined, db);
    let slices = 0;
    const leases: number[] = [];
    jobs.register('waiting', {
      async *work() {
        for (; slices < 1_000; yield 0) {
          slices++;
          now += 100;
          const [job] = await rows();
          leases.push(Number(job?.not_before) - now);
          if (slices === 900) await cancelJob(world.service.store.db, row.organization_id, 'job_2');
        }
      },
      fail: () => expect.unreachable(),
    });
    const waiting = { ...row, job_id: 'job_2', kind: 'waiting' };
    await cancelJob(world.service.store.db, row.organization_id, row.job_id);
    await insertJob(world.service.store.db, waiting);
    await jobs.start(waiting);
    expect([slices, errors]).toEqual([900, []]);
    // One write takes the job. On PostgreSQL the lease is renewed several times in 90 seconds.
    expect(writes.length).toBeLessThanOrEqual(engine === 'postgres' ? 6 : 1);
    if (engine === 'postgres') expect(Math.min(...leases)).toBeGreaterThan(MINUTE_MS);
  });

  test('waits longer after each error, and continues behind the finished slices', async () => {
    let isBroken = true;
    const { jobs, done, errors } = startProcess((next) => {
      if (next === 3 && isBroken) throw new Error('no');
    });
    await jobs.start(row);
    expect(errors).toMatchObject([{ message: 'the job job_1 failed', cause: { message: 'no' } }]);
    for (const waits of [MINUTE_MS, 2 * MINUTE_MS, 4 * MINUTE_MS]) {
      expect(await rows()).toMatchObject([{ progress: '2', not_before: now + waits }].map(numeric));
      now += waits - 1;
      await jobs.resume();
      await jobs.start(row);
      expect(done).toEqual([1, 2]);
      now += 1;
      await jobs.start(row);
    }
    isBroken = false;
    now += 8 * MINUTE_MS;
    await jobs.resume();
    await vi.waitFor(async () => expect(await rows()).toEqual([]));
    expect(done).toEqual([1, 2, 3, 4, 5]);
    expect(errors).toHaveLength(4);
  });

  test('waits a minute after an error that follows progress, whatever failed before', async () => {
    const { db } = world.service.store;
    const { jobs } = startProcess();
    let tries = 0;
    jobs.register('counting', {
      async *work(job) {
        yield 0;
        if (++tries === 4) await noteProgress(db, Object.assign(job, { progress: '1' }), now);
        throw new Error('no');
      },
      fail: () => expect.unreachable(),
    });
    const waits: number[] = [];
    for (let count = 0; count < 4; count++) {
      await jobs.start(row);
      const [left] = await rows();
      waits.push((Number(left?.not_before) - now) / MINUTE_MS);
      now = Number(left?.not_before);
    }
    expect(waits).toEqual([1, 2, 4, 1]);
  });

  test('fails at once if it cannot be repaired, and otherwise after a day of tries', async () => {
    const { jobs, failed, errors } = startProcess(() => {
      throw new Unrepairable('never');
    });
    await jobs.start(row);
    expect([failed, errors.length, await rows()]).toEqual([['job_1'], 1, []]);
    await insertJob(world.service.store.db, row);
    const again = startProcess(() => {
      throw new Error('no');
    });
    for (let tries = 0; tries < 30; tries++) {
      expect(again.failed).toEqual([]);
      await again.jobs.start(row);
      now += 60 * MINUTE_MS;
    }
    expect(again.failed).toEqual(['job_1']);
  });

  test('fails after its process was killed in 30 attempts, and closing processes do not count', async () => {
    const { db } = world.service.store;
    for (let closed = 0; closed < 2; closed++) {
      const begun = Promise.withResolvers<void>();
      const { jobs, background } = startProcess();
      jobs.register('counting', {
        async *work() {
          for (begun.resolve(); ; ) yield 10;
        },
        fail: () => expect.unreachable(),
      });
      void jobs.start(row);
      await begun.promise;
      await background.close();
      expect(await rows()).toMatchObject([{ lease: null, attempts: 0 }]);
    }
    for (let tries = 0; tries < 30; tries++) {
      expect(await takeJob(db, row, now)).toBeDefined();
      now += 3 * MINUTE_MS;
    }
    const { jobs, done, failed, errors } = startProcess();
    await jobs.start(row);
    expect([failed, done, await rows()]).toEqual([['job_1'], [], []]);
    expect(errors).toMatchObject([{ cause: { message: 'it neither ended nor made progress in 30 attempts' } }]);
  });

  test('waits longer each time its process is killed, and for the lease only after it has made progress', async () => {
    const gate = Promise.withResolvers<void>();
    const waits: number[] = [];
    for (let tries = 0; tries < 5; tries++) {
      const begun = Promise.withResolvers<void>();
      const { jobs } = startProcess();
      jobs.register('counting', {
        async *work(job) {
          if (tries === 3) {
            job.progress = 'further';
            yield 0;
          }
          begun.resolve();
          await gate.promise;
        },
        fail: () => expect.unreachable(),
      });
      void jobs.start(row);
      await begun.promise;
      const [job] = await rows();
      const until = Number(job?.not_before);
      waits.push(Math.max(0, until - now) / MINUTE_MS);
      now = Math.max(now, until);
    }
    gate.resolve();
    // PostgreSQL has a lease of two minutes, and SQLite has none.
    const lease = engine === 'postgres' ? 2 : 0;
    expect(waits).toEqual([lease, 2, 4, lease, 2]);
  });

  test('is not delayed by jobs that only another version knows', async () => {
    const { db } = world.service.store;
    const { organization_id } = row;
    for (let n = 0; n < 100; n++) await insertJob(db, { job_id: `a_${n}`, organization_id, kind: 'of tomorrow' });
    const { jobs, done } = startProcess();
    await jobs.resume();
    await vi.waitFor(() => expect(done).toEqual([1, 2, 3, 4, 5]));
    await vi.waitFor(async () => expect(await rows()).toHaveLength(100));
  });

  test('that is cancelled runs no further slice', async () => {
    const { jobs, done, errors } = startProcess(async (next) => {
      if (next === 2) await cancelJob(world.service.store.db, row.organization_id, row.job_id);
    });
    await jobs.start(row);
    expect([done, errors]).toEqual([[1, 2], []]);
    await jobs.start(row);
    expect(done).toEqual([1, 2]);
  });
});

/** PostgreSQL's driver reads a `bigint` as the store has configured it. */
const numeric = (row: { progress: string; not_before: number }) => ({ ...row, not_before: Number(row.not_before) });
