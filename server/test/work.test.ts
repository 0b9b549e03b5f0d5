import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { type Asker, DeadlineExceeded, inSlices, Once, Queue, type QueueOptions, yieldSlice } from '../work.ts';

/** A queue whose work runs until the test ends it, and the names of the work that has begun. */
function held(options: QueueOptions) {
  const queue = new Queue(options);
  const begun: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const run = (name: string, asker: Asker = {}) => {
    const gate = Promise.withResolvers<void>();
    gates.set(name, gate);
    const running = queue.run(async () => {
      begun.push(name);
      await gate.promise;
      return name;
    }, asker);
    // A test that does not check this work need not handle its failure.
    running.catch(() => undefined);
    return running;
  };
  const end = async (name: string) => {
    gates.get(name)?.resolve();
    await pause(0);
  };
  return { queue, begun, run, end, fail: (name: string) => gates.get(name)?.reject(new Error('failed')) };
}

describe('a queue', () => {
  test('runs at most its limit at once, at most the share of each group, and returns or throws what the work does', async () => {
    const { begun, run, end, fail } = held({ atOnce: 3, atOncePerGroup: 2 });
    const ours = ['a', 'b', 'c'].map((name) => run(name, { group: 'ours' }));
    const theirs = ['d', 'e'].map((name) => run(name, { group: 'theirs' }));
    await pause(0);
    expect(begun).toEqual(['a', 'b', 'd']);
    fail('b');
    await expect(ours[1]).rejects.toThrow('failed');
    await pause(0);
    expect(begun).toEqual(['a', 'b', 'd', 'e']);
    await end('a');
    expect(begun).toEqual(['a', 'b', 'd', 'e', 'c']);
    await Promise.all(['c', 'd', 'e'].map(end));
    expect(await Promise.all([ours[0], ours[2], ...theirs])).toEqual(['a', 'c', 'd', 'e']);
  });

  test('gives a free slot to another person before a second slot to the same person', async () => {
    const { begun, run, end } = held({ atOnce: 2 });
    for (let n = 0; n < 5; n++) void run(`ann ${n}`, { group: 'ours', person: 'ann' });
    void run('bob 0', { group: 'ours', person: 'bob' });
    void run('bob 1', { group: 'ours', person: 'bob' });
    void run('eve 0', { group: 'theirs', person: 'eve' });
    await pause(0);
    expect(begun).toEqual(['ann 0', 'ann 1']);
    await end('ann 0');
    expect(begun.at(-1)).toBe('eve 0');
    await end('ann 1');
    expect(begun.at(-1)).toBe('bob 0');
    await end('bob 0');
    expect(begun.at(-1)).toBe('ann 2');
  });

  test('refuses work of the person with the most waiting work if a group has too much', async () => {
    const { queue, begun, run, end } = held({ atOnce: 1, maxWaiting: 3, full: () => new Error('come again') });
    const asked = [0, 1, 2, 3].map((n) => run(`ann ${n}`, { group: 'ours', person: 'ann' }));
    const bob = run('bob', { group: 'ours', person: 'bob' });
    await expect(asked[3]).rejects.toThrow('come again');
    await expect(run('ann 4', { group: 'ours', person: 'ann' })).rejects.toThrow('come again');
    void run('eve', { group: 'theirs', person: 'eve' });
    expect(queue.waiting('ours')).toBe(3);
    expect(queue.waiting()).toBe(4);
    for (const name of ['ann 0', 'eve', 'bob', 'ann 1', 'ann 2']) await end(name);
    expect(begun).toEqual(['ann 0', 'eve', 'bob', 'ann 1', 'ann 2']);
    expect(await bob).toBe('bob');
  });

  test('never begins work for a caller who has left, and aborts their running work', async () => {
    const { queue, begun, run, end } = held({ atOnce: 1 });
    const left = new Error('left');
    void run('first');
    const leaving = new AbortController();
    const waiting = run('never', { signal: leaving.signal });
    leaving.abort(left);
    await expect(waiting).rejects.toBe(left);
    await expect(run('neither', { signal: leaving.signal })).rejects.toBe(left);
    expect(queue.waiting()).toBe(0);
    await end('first');
    const stopping = new AbortController();
    const running = queue.run(async (signal) => once(signal, 'abort').then(() => signal.throwIfAborted()), stopping);
    stopping.abort(left);
    await expect(running).rejects.toBe(left);
    expect(begun).toEqual(['first']);
  });

  test('gives up work that exceeds its deadline, aborts it, and begins the next', async () => {
    const queue = new Queue({ atOnce: 1, deadlineMs: 30 });
    let told: unknown;
    const endless = queue.run((signal) => {
      signal.addEventListener('abort', () => {
        told = signal.reason;
      });
      return new Promise(() => undefined);
    });
    const next = queue.run(async () => 'done');
    await expect(endless).rejects.toBeInstanceOf(DeadlineExceeded);
    expect(told).toBeInstanceOf(DeadlineExceeded);
    expect(await next).toBe('done');
  });

  test('keeps the order of each person, loses nothing and forgets people without work', async () => {
    const step = fc.record({
      group: fc.constantFrom('a', 'b', 'c'),
      person: fc.constantFrom('x', 'y'),
      leaves: fc.boolean(),
    });
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      async (steps, atOnce) => {
        const queue = new Queue({ atOnce, atOncePerGroup: 2 });
        const begun: number[] = [];
        const settled = await Promise.all(
          steps.map(({ group, person, leaves }, n) => {
            const leaving = new AbortController();
            const work = async () => {
              begun.push(n);
              await pause(0);
            };
            const running = queue.run(work, { group, person, signal: leaving.signal }).then(
              () => 'done',
              () => 'left',
            );
            if (leaves) leaving.abort();
            return running;
          }),
        );
        expect(begun.length).toBeGreaterThanOrEqual(settled.filter((one) => one === 'done').length);
        for (const { group, person } of steps) {
          const own = begun.filter((n) => steps[n]?.group === group && steps[n]?.person === person);
          expect(own).toEqual(own.toSorted((one, other) => one - other));
        }
        expect(settled.filter((one, n) => one === 'left' && !steps[n]?.leaves)).toEqual([]);
        expect(queue.waiting()).toBe(0);
      },
    );
    await fc.assert(property, runs(50));
  });
});

test('requesting work while it runs joins that run, and a later request runs it again', async () => {
  const once = new Once<number>();
  let count = 0;
  const work = async () => ++count;
  expect(await Promise.all([once.run('a', work), once.run('a', work), once.run('b', work)])).toEqual([1, 1, 2]);
  expect(once.isRunning('a')).toBe(false);
  expect(await once.run('a', work)).toBe(3);
});

describe('slices of long work', () => {
  test('yield to requests in between', async () => {
    const served: string[] = [];
    const server = createServer((socket) => socket.on('data', () => served.push('request'))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as { port: number }).port, '127.0.0.1');
    const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
    const serve = (name: string) =>
      yieldSlice(() => {
        served.push(name);
        client.write('x');
        return name;
      });
    expect(await Promise.all([serve('first'), serve('second'), serve('third')])).toEqual(['first', 'second', 'third']);
    expect(served).toEqual(['first', 'request', 'second', 'request', 'third']);
    client.destroy();
    peer.destroy();
    server.close();
  });

  test('continue after one fails', async () => {
    const failed = yieldSlice(() => {
      throw new Error('cannot');
    });
    const next = yieldSlice(() => 'done');
    await expect(failed).rejects.toThrow('cannot');
    expect(await next).toBe('done');
  });

  test('stop when nobody waits for them any more', async () => {
    const leaving = new AbortController();
    let steps = 0;
    function* work() {
      for (;;) {
        if (++steps === 3) leaving.abort(new Error('left'));
        yield 1e9;
      }
    }
    await expect(inSlices(work(), leaving.signal)).rejects.toThrow('left');
    expect(steps).toBe(3);
  });
});
