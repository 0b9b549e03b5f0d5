import { setTimeout as wait } from 'node:timers/promises';
import { openDerivedData } from '../server/derive/derived-data.ts';
import { openStore, type Store } from '../server/store/open.ts';
import { startIssuer } from '../test/issuer.ts';
import type { Options } from './options.ts';
import { createDatabase, startPostgres } from './postgres.ts';
import { startMeasured, type Where, withFolder } from './process.ts';
import { quantile, type Row } from './report.ts';
import { createCorpus } from './search-corpus.ts';
import { type Seed, seed, seedEvents, seedSessions } from './seed.ts';

/** Set `BENCH_EVENTS=100000` for a quick look. */
const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const SESSION = 1_000;
const OWNER = 'reader';
/** Interval of appends, like those of machines on which people work. */
const APPEND_EVERY_MS = 20;

/** Measures how fast sessions are derived, and how long appends wait meanwhile, on both engines. */
export async function benchDerive(options: Options): Promise<Row[]> {
  const sqlite = await withFolder((dataDir) =>
    measure('SQLite', async (n) => ({ dataDir: `${dataDir}/${n}` }), options),
  );
  const postgres = await startPostgres();
  try {
    const fresh = async (dataDir: string) => ({ dataDir, databaseUrl: await createDatabase(postgres.url) });
    return [...sqlite, ...(await withFolder((dataDir) => measure('PostgreSQL', () => fresh(dataDir), options)))];
  } finally {
    await postgres.stop();
  }
}

async function measure(engine: string, fresh: (n: number) => Promise<Where>, { seconds }: Options): Promise<Row[]> {
  const alone = await appendBeside(await fresh(1), seconds, 0);
  const behind = await appendBeside(await fresh(2), seconds, EVENTS);
  const { rate } = behind;
  const tell = (times: readonly number[]) =>
    `p50 ${quantile(times, 0.5).toFixed(1)} ms, longest ${Math.max(...times).toFixed(0)} ms`;
  return [
    {
      what: `events derived, ${engine}`,
      figure: rate.events / rate.seconds,
      unit: '/s',
      goal: '–',
      detail: `${rate.events.toLocaleString('en')} events in ${rate.seconds.toFixed(0)} s, without other load`,
    },
    {
      what: `append beside a backlog of ${EVENTS.toLocaleString('en')}, ${engine}, p99`,
      figure: quantile(behind.times, 0.99),
      unit: 'ms',
      goal: '≤ 100',
      detail: `${tell(behind.times)}; without one p99 ${quantile(alone.times, 0.99).toFixed(1)} ms, ${tell(alone.times)}`,
    },
  ];
}

async function appendBeside(where: Where, seconds: number, events: number) {
  const issuer = await startIssuer();
  const made = await seed(where, issuer.url, OWNER, (store, seeded) => fill(store, seeded, events));
  const rate = events === 0 ? { events: 0, seconds: 1 } : await deriveSome(where, events / 10);
  const service = await startMeasured(where, issuer.env);
  try {
    return { rate, times: await append(service.url, made, seconds) };
  } finally {
    await service.stop();
    issuer.close();
  }
}

async function fill(store: Store, made: Seed, events: number): Promise<{ open: string }> {
  const corpus = createCorpus(7);
  const [open, ...ids] = await seedSessions(store, made, 1 + Math.ceil(events / SESSION));
  for (const id of ids) await seedEvents(store, made, id, SESSION, corpus);
  return { open: String(open) };
}

/** Derives at least this number of events without pauses. */
async function deriveSome(where: Where, some: number): Promise<{ events: number; seconds: number }> {
  const store = await openStore({ ...where, onError: console.error });
  const data = await openDerivedData({
    store,
    pricesFile: undefined,
    now: Date.now,
    onError: console.error,
    rests: false,
  });
  const derived = async () =>
    (
      await store.db
        .selectFrom('session_facts')
        .select(({ fn }) => fn.sum<number>('derived_through').as('events'))
        .executeTakeFirstOrThrow()
    ).events ?? 0;
  const started = performance.now();
  void data.indexer.catchUp();
  let events = 0;
  while (events < some) {
    await wait(200);
    events = Number(await derived());
  }
  const seconds = (performance.now() - started) / 1000;
  await data.close();
  await store.close();
  return { events, seconds };
}

async function append(url: string, { secret, open }: Seed & { open: string }, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const body = JSON.stringify({ events: [{ eventType: 'notice', payload: { text: 'x'.repeat(1_000) } }] });
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  for (const until = performance.now() + seconds * 2_000; performance.now() < until; await wait(APPEND_EVERY_MS)) {
    const started = performance.now();
    const reply = await fetch(`${url}/v1/sessions/${open}/events`, { method: 'POST', headers, body });
    if (reply.status !== 200)
      throw new Error(`the service answered an append with ${reply.status}: ${await reply.text()}`);
    await reply.arrayBuffer();
    times.push(performance.now() - started);
  }
  return times;
}
