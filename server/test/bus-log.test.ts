import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Problem } from '../../contract/problem.ts';
import { runs, seeded } from '../../contract/test/runs.ts';
import type { NewMessage } from '../bus/bus.ts';
import type { Entry, Logged } from '../bus/entry.ts';
import { JetStreamJournal, type JournalBus } from '../bus/jetstream-journal.ts';
import { SessionLog } from '../ingest/session-log.ts';

const REPLICAS = 3;
const KEYS = 6;

const opened: Entry = { kind: 'opened', plane: 'live', clientEndedAt: null };

/** The fate of a request to the bus: it works, the request is lost, or its answer is lost. */
type Luck = 'well' | 'lost' | 'answer lost';

/** A subject as a NATS server stores it, and the fate of each request to it. */
function createSubject(lucks: readonly Luck[]) {
  const log: Logged[] = [{ sequence: 1, entry: opened }];
  let asked = 0;

  async function ask<Answer>(answer: () => Answer): Promise<Answer> {
    const luck = lucks[asked++ % lucks.length];
    await Promise.resolve();
    if (luck === 'lost') throw new Problem('service_unavailable', 'lost');
    const given = answer();
    if (luck === 'answer lost') throw new Problem('service_unavailable', 'its answer is lost');
    return given;
  }

  function add({ entry, behind }: NewMessage): number | undefined {
    const sequence = log.length + 1;
    if (behind !== log.length) return undefined;
    log.push({ sequence, entry: structuredClone(entry) });
    return sequence;
  }

  const bus: JournalBus = {
    publish: (message) => ask(() => add(message)),
    next: (_, from) => ask(() => log.find(({ sequence }) => sequence >= from)),
    nextDeadLetter: () => ask(() => undefined),
    history: () => ask(() => [...log]),
    removeSettled: async () => true,
    removeDeadLetters: async () => undefined,
    isConnected: () => true,
    onForget: () => undefined,
  };
  return { log, bus };
}

interface Append {
  key: string | null;
  count: number;
}
type Step = { replica: number } & ({ append: Append } | { close: true });

const luck = fc.constantFrom<Luck>('well', 'well', 'well', 'well', 'lost', 'answer lost');
const append = fc.record({
  key: fc.option(fc.nat({ max: KEYS - 1 }).map(String)),
  count: fc.integer({ min: 1, max: 3 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: fc.record({ replica: fc.nat({ max: REPLICAS - 1 }), append }) },
  { weight: 1, arbitrary: fc.record({ replica: fc.nat({ max: REPLICAS - 1 }), close: fc.constant(true as const) }) },
);

/** A store that cannot be reached. */
const AWAY = new Proxy(
  {},
  {
    get() {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    },
  },
);

const place = { organizationId: 'org_1', sessionId: 'ses_1', plane: 'live' } as const;

const send = (log: SessionLog, { key, count }: Append) =>
  log.append({
    ...{ ...place, sender: 'lane', idempotencyKey: key, fingerprint: String(count) },
    events: Array.from({ length: count }, () => ({ eventType: 'notice', payload: Buffer.from('{}') })),
  });

test(`the log on a bus numbers without gaps, repeats its answers and ends once, if any request or answer is lost ${seeded}`, async () => {
  const property = fc.asyncProperty(
    fc.array(luck, { minLength: 7, maxLength: 40 }),
    fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { maxLength: 20 }),
    async (lucks, rounds) => {
      const { log, bus } = createSubject(lucks);
      const [db, pool] = [AWAY as never, undefined as never];
      const replicas = Array.from({ length: REPLICAS }, () => {
        const journal = new JetStreamJournal({ bus, db, pool, onError: () => undefined });
        return new SessionLog({ db, journal, bus: journal, committed: () => undefined, now: () => 1 });
      });
      const answers = new Map<string, object>();
      let isClosed = false;

      async function take(one: Step): Promise<void> {
        const replica = replicas[one.replica] as SessionLog;
        const wasClosed = isClosed;
        try {
          if ('close' in one) {
            await replica.close({ ...place, status: 'completed', endedAt: undefined });
            expect(wasClosed).toBe(false);
            isClosed = true;
            return;
          }
          const { replayed, ...answer } = await send(replica, one.append);
          const { key, count } = one.append;
          expect(answer.lastSequence - answer.firstSequence + 1).toBe(count);
          expect(wasClosed && !replayed).toBe(false);
          if (key === null) return;
          expect(answers.get(key) ?? answer).toEqual(answer);
          answers.set(key, answer);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          const isExpected = [
            'service_unavailable',
            'session_closed',
            'session_already_closed',
            'idempotency_key_reused',
          ];
          expect(isExpected).toContain(error.code);
        }
      }
      for (const round of rounds) await Promise.all(round.map(take));

      let last = 0;
      const keys = new Set<string>();
      for (const [index, { entry }] of log.entries()) {
        if (entry.kind === 'closed') {
          expect(index).toBe(log.length - 1);
          expect(entry.eventCount).toBe(last);
        }
        if (entry.kind !== 'append') continue;
        expect(entry.firstSequence).toBe(last + 1);
        last = entry.lastSequence;
        if (entry.key !== null) {
          expect(keys).not.toContain(entry.key);
          keys.add(entry.key);
          const { firstSequence, lastSequence } = entry;
          expect(answers.get(entry.key) ?? entry).toMatchObject({ firstSequence, lastSequence });
        }
      }
      for (const key of answers.keys()) expect(keys).toContain(key);
    },
  );
  await fc.assert(property, runs(200));
});
