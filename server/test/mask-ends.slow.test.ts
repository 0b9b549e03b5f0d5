import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Background, type Slices } from '../background.ts';
import { EventMasker } from '../erase/mask/event-masker.ts';
import { findText } from '../erase/mask/finder.ts';
import { writeMasked } from '../erase/mask/masked-events.ts';
import { Masking } from '../erase/mask/masking.ts';
import {
  addSession,
  cancelMask,
  cancelMaskOfAll,
  endMask,
  findMask,
  finishMask,
  insertMask,
  insertMaskOfAll,
  type SessionMask,
} from '../erase/mask/masks.ts';
import { Jobs, Unrepairable } from '../jobs.ts';
import { readAppends, type StoredAppend } from '../store/events.ts';
import { type Job, JobLost, noteProgress, takeJob } from '../store/jobs.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import { findSession } from '../store/sessions.ts';
import { findOpenBehind } from '../store/sources.ts';
import { wholeOrganization } from '../store/viewer.ts';
import { VERSION_HERE } from './derived.ts';
import { ENGINES } from './engines.ts';
import { appendTexts, openSession, whenDerived } from './factories.ts';
import { startWorld, type World } from './world.ts';

const [MASKED, LEFT] = ['zqxmaskedword', 'zqxleftword'];
const MARK = '[REDACTED:manual:00ff]';

describe.each(ENGINES)('the end of a mask on %s', (engine) => {
  let world: World;
  let db: Db;
  let now: number;
  let place: { organizationId: string; sessionId: string };
  beforeEach(async () => {
    world = await startWorld(engine);
    const { service, ours } = world;
    db = service.store.db;
    now = service.clock.now;
    const sessionId = await openSession(service, ours.live);
    place = { organizationId: ours.organizationId, sessionId };
    for (const text of [MASKED, LEFT]) await appendTexts(service, ours, sessionId, [text]);
    await whenDerived(service, ours.member, sessionId, 2);
  });
  afterEach(() => world.service.close());

  const ask = (along?: (transaction: Db) => Promise<void>) => {
    const mask = { ...place, userId: world.ours.memberId, mark: MARK, sealed: 'sealed', acceptedEvents: 2 };
    return insertMask(db, mask, now, along);
  };
  const take = async (jobId: string) =>
    (await takeJob(db, { job_id: jobId, organization_id: place.organizationId }, now)) as Job;

  /** Masks the text in the first append. */
  async function write(mask: SessionMask, along: (transaction: Db) => Promise<void> = async () => undefined) {
    const masker = new EventMasker(findText(MASKED, MARK));
    const masked = [];
    for await (const append of readAppends(db, place.organizationId, place.sessionId, 1, 2)) {
      masked.push(...masker.add(append));
    }
    expect(await writeMasked(db, mask, masked, now, along)).toBe(true);
  }

  const found = async (text: string) =>
    (await world.service.call('GET', `/v1/organizations/me/search?q=${text}`, { as: world.ours.member })).body.sessions;

  test.each(['cancelled', 'held', 'failed', 'done'] as const)(
    'leaves nothing of the masked text in derived rows if it is %s and its process is killed then',
    async (outcome) => {
      const mask = await ask();
      const job = await take(mask.mask_id);
      await write(mask);
      expect(await found(MASKED)).toHaveLength(1);
      if (outcome === 'cancelled') {
        expect(await db.transaction().execute((transaction) => cancelMask(transaction, mask, now))).toBe(true);
      } else if (outcome === 'done') {
        const before = (await findSession(db, wholeOrganization(place.organizationId), place.sessionId)) as SessionRow;
        expect(await finishMask(db, job, mask, { before, fields: before, places: 0 }, now)).toBe(true);
      } else await endMask(db, job, outcome, now);
      expect(await findMask(db, place.organizationId, mask.mask_id)).toMatchObject({ outcome, sealed: null });
      // It is derived again without a request.
      expect((await findOpenBehind(db, VERSION_HERE, undefined)).behind).toContainEqual(place);
      await whenDerived(world.service, world.ours.member, place.sessionId, 2);
      expect(await found(MASKED)).toEqual([]);
      expect(await found(LEFT)).toHaveLength(1);
    },
  );

  /** A masker of the text on this thread. */
  const masker = () => {
    const events = new EventMasker(findText(MASKED, MARK));
    return {
      add: async (appends: StoredAppend[]) => ({
        masked: appends.flatMap((append) => events.add(append)),
        isSettled: events.isSettled,
        places: [],
        left: [],
        rules: {},
        isComplete: true,
      }),
      end: async () => ({ masked: events.end(), isSettled: true, places: [], isComplete: true, left: [], rules: {} }),
      maskFields: () => expect.unreachable(),
      drop: async () => undefined,
    };
  };

  test('waits for events that never become readable, logs that once, and can be cancelled', async () => {
    const told: string[] = [];
    const errors: unknown[] = [];
    let rests = 0;
    const slices = async (_: string, begin: () => Slices) => {
      const work = begin();
      for (let step = await work.next(); !step.done; step = await work.next()) {
        vi.advanceTimersByTime(step.value);
        if (step.value < 1_000 || ++rests < 3) continue;
        const [mask] = (await db.selectFrom('masks').where('session_id', 'is not', null).selectAll().execute()) as [
          SessionMask,
        ];
        expect(mask).toMatchObject({ finished_at: null, places: 1 });
        await db.transaction().execute((transaction) => cancelMask(transaction, mask, now));
      }
    };
    const jobs = new Jobs({ db, background: { slices }, now: () => now, onError: (error) => errors.push(error) });
    const masking = new Masking({
      db,
      jobs,
      thread: { begin: async () => masker() },
      pepper: 'pepper',
      now: () => now,
      bus: { countAccepted: async () => 3, removeWritten: () => expect.unreachable() },
      onMasked: async () => undefined,
      onWaits: (text) => void told.push(text),
      noteDamage: () => expect.unreachable(),
    });
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const mask = await masking.mask(place, world.ours.memberId, MASKED);
      expect(mask).toMatchObject({ outcome: 'cancelled', places: 1 });
      const what = `the mask ${mask.mask_id} of the session ${place.sessionId} waits`;
      expect(told).toEqual([
        `${what}: of 3 events that were acknowledged 2 can be read; see "Dead letters" in docs/event-bus.md`,
      ]);
    } finally {
      vi.useRealTimers();
    }
    expect([rests, errors]).toEqual([3, []]);
  });

  test('notifies the service if some events were masked before a failure', async () => {
    const begin = async () => ({ ...masker(), end: () => Promise.reject(new Unrepairable('no')) });
    const background = new Background({ atOnce: 1, onError: () => undefined });
    const jobs = new Jobs({ db, background, now: () => now, onError: () => undefined });
    const told: SessionRow[] = [];
    const onMasked = async (session: SessionRow) => void told.push(session);
    const onWaits = () => expect.unreachable();
    const masking = new Masking({
      db,
      jobs,
      thread: { begin },
      pepper: 'pepper',
      now: () => now,
      onMasked,
      onWaits,
      noteDamage: onWaits,
    });
    const mask = await masking.mask(place, world.ours.memberId, MASKED);
    expect(mask).toMatchObject({ outcome: 'failed', places: 1 });
    expect(told).toMatchObject([{ session_id: place.sessionId, masks: 1 }]);
    await background.close();
  });

  test('is reached even if the session was deleted meanwhile', async () => {
    const mask = await ask();
    const job = await take(mask.mask_id);
    await sql`update sessions set deleted_at = ${now} where session_id = ${place.sessionId}`.execute(db);
    expect(await finishMask(db, job, mask, undefined, now)).toBe(true);
    expect(await findMask(db, place.organizationId, mask.mask_id)).toMatchObject({ outcome: 'done', sealed: null });
  });

  // SQLite has one writer.
  if (engine === 'postgres') {
    test('does not deadlock with a writer that waits for it', async () => {
      const mask = await ask();
      const job = await take(mask.mask_id);
      let cancelling: Promise<unknown> | undefined;
      const writing = write(mask, async (transaction) => {
        cancelling = db.transaction().execute((other) => cancelMask(other, mask, now));
        await pause(300);
        await noteProgress(transaction, job, now);
      });
      await expect(writing).rejects.toThrow(JobLost);
      expect(await cancelling).toBe(true);
    });

    test('of a run does not deadlock with a request for a mask that waits for it', async () => {
      const { organizationId } = place;
      const run = { maskId: 'mrn_1', organizationId, userId: world.ours.memberId, isDry: false, sealed: 'sealed' };
      await insertMaskOfAll(db, run, now);
      const job = await take(run.maskId);
      let cancelling: Promise<unknown> | undefined;
      const asking = ask(async (transaction) => {
        cancelling = cancelMaskOfAll(db, run, now);
        await pause(300);
        const step = { sessionId: place.sessionId, events: 1, places: 1, fields: 0 };
        await addSession(transaction, job, step, now);
      });
      await expect(asking).rejects.toThrow(JobLost);
      expect(await cancelling).toMatchObject({ outcome: 'cancelled' });
    });
  }
});
