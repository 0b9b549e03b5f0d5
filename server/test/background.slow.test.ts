import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Background, type Slices } from '../background.ts';
import { IdleWorker } from '../idle-worker.ts';
import { DeadlineExceeded } from '../work.ts';

describe('a background job', () => {
  afterEach(() => void vi.restoreAllMocks());

  test('of one group neither waits for the many jobs of another group nor loses its room to them', async () => {
    const background = new Background({ atOnce: 2, onError: (error) => expect.unreachable(String(error)) });
    const done: string[] = [];
    const run = (key: string, group: string) => background.run(key, async () => void done.push(group), { group });
    const many = Array.from({ length: 2_000 }, (_, n) => run(`theirs ${n}`, 'theirs'));
    await Promise.all([run('ours 1', 'ours'), run('ours 2', 'ours')]);
    expect(done.filter((group) => group === 'ours')).toHaveLength(2);
    expect(done.length).toBeLessThan(50);
    await Promise.all(many);
    expect(done).toHaveLength(2 + 1_000 + 2);
  });

  test('that hangs is given up at its deadline, reported, counted and paused, and other jobs continue', async () => {
    const errors: unknown[] = [];
    let givenUp = 0;
    let begun = 0;
    const background = new Background({
      ...{ atOnce: 1, deadlineMs: 30, restMs: 60_000 },
      onError: (error) => errors.push(error),
      onGivenUp: () => givenUp++,
    });
    let told: AbortSignal | undefined;
    const hang = (signal: AbortSignal) => {
      begun++;
      told = signal;
      return new Promise<void>(() => undefined);
    };
    const done: string[] = [];
    await Promise.all([background.run('hangs', hang), background.run('next', async () => void done.push('next'))]);
    expect(done).toEqual(['next']);
    expect([told?.aborted, givenUp]).toEqual([true, 1]);
    expect(errors).toMatchObject([{ message: 'the job "hangs" was given up', cause: expect.any(DeadlineExceeded) }]);
    await background.run('hangs', hang);
    expect(begun).toBe(1);
    const later = performance.now() + 120_000;
    vi.spyOn(performance, 'now').mockReturnValue(later);
    await background.run('hangs', hang);
    expect(begun).toBe(2);
  });

  test('in slices may run longer than the deadline of a slice, and other jobs run between slices', async () => {
    const errors: unknown[] = [];
    const background = new Background({ atOnce: 1, deadlineMs: 100, onError: (error) => errors.push(error) });
    const done: string[] = [];
    async function* work(): Slices {
      for (let slice = 1; slice <= 4; slice++) {
        if (slice === 1) void background.run('other', async () => void done.push('other'));
        await pause(40);
        done.push(`slice ${slice}`);
        yield 0;
      }
    }
    await background.slices('long', work);
    expect(done).toEqual(['slice 1', 'other', 'slice 2', 'slice 3', 'slice 4']);
    expect(errors).toEqual([]);
  });

  test('in slices runs its cleanup when the service closes', async () => {
    const background = new Background({ atOnce: 1, onError: (error) => expect.unreachable(String(error)) });
    let isReturned = false;
    async function* work(): Slices {
      try {
        for (;;) yield 5;
      } finally {
        await pause(20);
        isReturned = true;
      }
    }
    void background.slices('endless', work);
    await pause(20);
    await background.close();
    expect(isReturned).toBe(true);
  });

  test('gets an abort signal when the service closes, and the close waits for it', async () => {
    const background = new Background({ atOnce: 1, onError: (error) => expect.unreachable(String(error)) });
    let ended = false;
    void background.run('stops', async (signal) => {
      while (!signal.aborted) await pause(1);
      await pause(20);
      ended = true;
    });
    void background.run('never begins', async () => expect.unreachable());
    await pause(5);
    await background.close();
    expect(ended).toBe(true);
  });
});

describe('an idle worker', () => {
  const program = new URL('./stuck-thread.ts', import.meta.url);
  const ANYBODY = { group: 'org', person: 'usr', signal: undefined };

  test('serves another organization and another person before many jobs of one person', async () => {
    const thread = new IdleWorker<string, string>({ program, name: 'stuck', deadlineMs: 60_000 });
    const answered: string[] = [];
    const ask = (job: string, group: string, person: string) =>
      thread.ask(job, { group, person, signal: undefined }).then((reply) => answered.push(reply));
    const all = Array.from({ length: 40 }, (_, n) => ask(`busy ${n}`, 'ours', 'busy'));
    all.push(ask('colleague', 'ours', 'other'), ask('stranger', 'theirs', 'one'));
    await Promise.all(all);
    expect(answered.slice(0, 3).sort()).toEqual(['busy 0', 'colleague', 'stranger']);
    await thread.close();
  });

  test('starts no job of an asker who left while it waited', async () => {
    const thread = new IdleWorker<string, string>({ program, name: 'stuck', deadlineMs: 3_000 });
    const leaving = new AbortController();
    const first = thread.ask('slow', ANYBODY);
    // Each of these would hold the thread until its deadline.
    const left = Array.from({ length: 60 }, () => thread.ask('loop', { ...ANYBODY, signal: leaving.signal }));
    leaving.abort(new Error('left'));
    expect(new Set((await Promise.allSettled(left)).map(({ status }) => status))).toEqual(new Set(['rejected']));
    await expect(first).resolves.toBe('slow');
    await expect(thread.ask('next', ANYBODY)).resolves.toBe('next');
    await thread.close();
  });

  test('that loops forever is ended at its deadline, and a new thread runs the jobs behind it', async () => {
    const thread = new IdleWorker<string, string>({ program, name: 'stuck', deadlineMs: 3_000 });
    const asked = ['first', 'loop', 'behind it', 'throw', 'last'].map((job) => thread.ask(job, ANYBODY));
    const settled = await Promise.allSettled(asked);
    expect(settled.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)))).toEqual([
      'first',
      'DeadlineExceeded: it took longer than 3 s and was given up',
      'behind it',
      'Error: the thread "stuck" failed',
      'last',
    ]);
    await thread.close();
    await expect(thread.ask('late', ANYBODY)).rejects.toThrow('the thread "stuck" is closed');
  });

  test('that is closed during a job ends after the job', async () => {
    const thread = new IdleWorker<string, string>({ program, name: 'stuck', deadlineMs: 60_000 });
    const asked = [thread.ask('first', ANYBODY), thread.ask('slow', ANYBODY)];
    await asked[0];
    await thread.close();
    await expect(asked[1]).resolves.toBe('slow');
  });

  test('that is closed during a job starts none of the waiting jobs', async () => {
    const thread = new IdleWorker<string, string>({ program, name: 'stuck', deadlineMs: 60_000, closeMs: 10 });
    const asked = Promise.allSettled([thread.ask('loop', ANYBODY), thread.ask('behind it', ANYBODY)]);
    await pause(50);
    await thread.close();
    expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
