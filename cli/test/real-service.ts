import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { decodeFrame, encodeFrame, type FramedEvent } from '../../server/log/frame.ts';
import { createTenant } from '../../server/test/factories.ts';
import { startTestService } from '../../server/test/harness.ts';
import { AGENTS } from '../agents/all.ts';
import { makeFolder } from './folder.ts';
import { run } from './program.ts';

/** An event stored by the service. */
export interface StoredEvent {
  sessionId: string;
  /** Index among all stored events. */
  number: number;
  eventType: string;
  // biome-ignore lint/suspicious/noExplicitAny: payloads are of every shape
  payload: any;
}

/** The real service with an organization, and a machine that sends its captures there. */
export async function startRealService() {
  const service = await startTestService('sqlite');
  onTestFinished(() => service.close());
  const tenant = await createTenant(service);
  const { live } = tenant;
  const url = await service.app.listen({ port: 0, host: '127.0.0.1' });
  const home = makeFolder();
  const options = { home, url, secret: live };
  const { db } = service.store;
  type Append = Awaited<ReturnType<typeof appends>>[number];

  /** Every append, ordered by session and sequence. */
  const appends = () => db.selectFrom('appends').selectAll().orderBy('session_id').orderBy('first_sequence').execute();

  /** Replaces the events of an append, and renumbers the later ones of its session. */
  async function replace({ append_id, session_id, last_sequence, first_sequence }: Append, events: FramedEvent[]) {
    const by = events.length - (last_sequence - first_sequence + 1);
    const later = (await appends()).filter(
      (row) => row.session_id === session_id && row.first_sequence > last_sequence,
    );
    await db
      .updateTable('appends')
      .set({ ...encodeFrame(events), last_sequence: last_sequence + by })
      .where('append_id', '=', append_id)
      .execute();
    // Start at the end at which the moved numbers do not collide.
    for (const row of by > 0 ? later.reverse() : later) {
      const moved = { first_sequence: row.first_sequence + by, last_sequence: row.last_sequence + by };
      await db.updateTable('appends').set(moved).where('append_id', '=', row.append_id).execute();
    }
    await db
      .updateTable('sessions')
      .set((row) => ({ event_count: row('event_count', '+', by) }))
      .where('session_id', '=', session_id)
      .execute();
  }

  const real = {
    home,
    owner: tenant.owner,
    service,
    tenant,
    options,
    run: (...args: string[]) => run(args, options),
    /** Runs `capture verify --json`. @returns its report, exit code and stderr */
    async verify(...args: string[]) {
      const { exitCode, stdout, stderr } = await run(['verify', '--json', ...args], options);
      return { exitCode, stderr, ...(JSON.parse(stdout || '{}') as Report) };
    },
    /** All stored events. */
    async events(): Promise<StoredEvent[]> {
      const rows = await appends();
      const framed = rows.flatMap((row) => decodeFrame(row).map((event) => ({ sessionId: row.session_id, ...event })));
      return framed.map(({ sessionId, eventType, payload }, number) => ({
        ...{ sessionId, number, eventType },
        payload: JSON.parse(Buffer.from(payload).toString()),
      }));
    },
    /** Changes the append with the n-th event directly in the store, without the service's knowledge. */
    async change(number: number, change: (events: FramedEvent[], index: number) => FramedEvent[]): Promise<void> {
      let index = number;
      for (const row of await appends()) {
        const before = decodeFrame(row);
        if (index < before.length) return replace(row, change(before, index));
        index -= before.length;
      }
      throw new Error(`there is no event ${number}`);
    },
    /** Changes the payload of the n-th event. */
    alter: (number: number, alter: (payload: StoredEvent['payload']) => void) =>
      real.change(number, (events, index) =>
        events.map((event, at) => {
          if (at !== index) return event;
          const payload = JSON.parse(Buffer.from(event.payload).toString());
          alter(payload);
          return { ...event, payload: Buffer.from(JSON.stringify(payload)) };
        }),
      ),
    remove: (number: number) => real.change(number, (events, index) => events.toSpliced(index, 1)),
    double: (number: number) =>
      real.change(number, (events, index) => events.toSpliced(index, 0, events[index] as FramedEvent)),
    /** @returns a function that restores the current state of the store */
    async remember(): Promise<() => Promise<void>> {
      const rows = await appends();
      const sessions = await db.selectFrom('sessions').select(['session_id', 'event_count']).execute();
      return async () => {
        await db.deleteFrom('appends').execute();
        for (const row of rows) await db.insertInto('appends').values(row).execute();
        for (const { session_id, event_count } of sessions) {
          await db.updateTable('sessions').set({ event_count }).where('session_id', '=', session_id).execute();
        }
      };
    },
  };
  return real;
}

export type RealService = Awaited<ReturnType<typeof startRealService>>;

/** The report of `capture verify --json`. */
export interface Report {
  sessions: number;
  records: number;
  events: number;
  problems: Record<string, number>;
  replayed: number;
  findings: {
    problem: string;
    file?: string;
    position?: number;
    eventType: string;
    part?: string;
  }[];
}

/** Copies the hand-written transcripts of every agent to the agent's own folder. */
export function placeFixtures(home: string): void {
  for (const agent of AGENTS) {
    const from = join(import.meta.dirname, 'agents/fixtures', agent.id);
    const [to] = agent.roots({}, home);
    if (to === undefined || !existsSync(from)) continue;
    cpSync(from, to, { recursive: true });
    for (const path of readdirSync(to).filter((name) => name.endsWith('.sql'))) {
      const db = new DatabaseSync(join(to, path.replace(/sql$/, 'db')));
      db.exec(readFileSync(join(to, path), 'utf8'));
      db.close();
    }
  }
}
