import { sql } from 'kysely';
import { hourOfWeek } from '../contract/written-query.ts';
import type { Store } from '../server/store/open.ts';
import { weekOf } from '../server/store/summed-days.ts';
import { startIssuer } from '../test/issuer.ts';
import { copyRow } from './copies.ts';
import { createDeriver } from './deriver.ts';
import { onBothEngines } from './postgres.ts';
import { startMeasured, type Where } from './process.ts';
import { median, type Row } from './report.ts';
import { createCorpus } from './search-corpus.ts';
import { type Seed, seed, seedEvents, seedSessions } from './seed.ts';

/** Set `BENCH_SESSIONS=100000` for a quick look. */
const SESSIONS = Number(process.env.BENCH_SESSIONS ?? 1_000_000);
const DAYS = 365;
const DAY_MS = 86_400_000;
const EACH_DAY = Math.floor(SESSIONS / DAYS);
const SAMPLES = 11;
const OWNER = 'reader';

/** The number of values of each dimension on a day, for 1,000 developers with 20 models. */
const VALUES = { total: 1, agent: 5, repository: 200, environment: 700, person: 700, model: 20, tool: 50, hour: 24 };

/** Measures the overview of a large organization with a million sessions a year, on both engines. */
export const benchUsage = (): Promise<Row[]> => onBothEngines(measure);

async function measure(engine: string, where: Where): Promise<Row[]> {
  const issuer = await startIssuer();
  const { today } = await seed(where, issuer.url, OWNER, fill);
  const service = await startMeasured(where, issuer.env);
  try {
    const headers = { authorization: `Bearer ${await issuer.token(OWNER, `${OWNER}@example.com`)}` };
    const rows: Row[] = [];
    for (const days of [7, 30, 90, DAYS]) {
      const from = dayOf(today - (days - 1) * DAY_MS);
      const url = `${service.url}/v1/organizations/me/usage?from=${from}&to=${dayOf(today)}`;
      const times: number[] = [];
      const before = service.cpuSeconds();
      for (let n = 0; n < SAMPLES; n++) {
        const started = performance.now();
        const reply = await fetch(url, { headers });
        const { total } = (await reply.json()) as { total?: { sessions: number } };
        times.push(performance.now() - started);
        if (total?.sessions !== days * EACH_DAY) throw new Error(`${url} counts ${total?.sessions} sessions`);
      }
      const cpu = ((service.cpuSeconds() - before) / SAMPLES) * 1000;
      const detail = `longest ${Math.max(...times).toFixed(0)} ms, processor of the service ${cpu.toFixed(0)} ms`;
      const what = `overview of ${days} days, ${SESSIONS.toLocaleString('en')} sessions a year, ${engine}, p50`;
      rows.push({ what, figure: median(times), unit: 'ms', goal: '≤ 200', detail });
    }
    return rows;
  } finally {
    await service.stop();
    issuer.close();
  }
}

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

/** Derives one session, and copies it with its derived data; the copies differ in failures, duration and cost. */
async function fill(store: Store, made: Seed) {
  const [id] = (await seedSessions(store, made, 1)) as [string];
  await seedEvents(store, made, id, 100, createCorpus(7));
  const deriver = await createDeriver(store, made.organizationId);
  await deriver.derive(id);
  await deriver.close();
  const today = Date.parse(`${dayOf(Date.now())}T00:00:00Z`);
  const apart = sql.lit(Math.floor((DAYS * DAY_MS) / SESSIONS));
  const started = sql`${sql.lit(today)} - CAST(n AS bigint) * ${apart}`;
  const copied = { session_id: sql`${sql.lit('ses_copy')} || CAST(10000000 + n AS text)`, started_at: started };
  await copyRow(store, 'sessions', id, SESSIONS, copied);
  await copyRow(store, 'session_facts', id, SESSIONS, {
    ...copied,
    last_event_at: started,
    failures: sql`(n * 79) % 1009`,
    duration_ms: sql`CAST(n AS bigint) * 104729 % 7200000`,
    cost: sql`(CAST(n AS bigint) * 1299709 % 100003) * 1000000.0`,
    interrupted: sql`CASE WHEN n % 211 = 0 THEN 1 ELSE 0 END`,
  });
  for (const table of ['session_days', 'summed_days', 'usage_days'] as const)
    await store.db.deleteFrom(table).execute();
  for (let day = 0; day < DAYS; day++) await addDay(store, made, dayOf(today - day * DAY_MS));
  if (store.engine === 'postgres') await sql`ANALYZE`.execute(store.db);
  return { today };
}

async function addDay({ db }: Store, { organizationId }: Seed, day: string): Promise<void> {
  const rows = (Object.keys(VALUES) as (keyof typeof VALUES)[]).flatMap((dimension) =>
    Array.from({ length: VALUES[dimension] }, (_, n) => ({
      organization_id: organizationId,
      plane: 'live' as const,
      dimension,
      day,
      value: dimension === 'total' ? '' : dimension === 'hour' ? hourOfWeek(n) : `host.example/team/${dimension} ${n}`,
      week: weekOf(day),
      sessions: Math.floor(EACH_DAY / VALUES[dimension]),
      prompts: 5_000,
      tool_calls: 50_000,
      failures: 2_000,
      input_tokens: 9e8,
      cached_tokens: 7e8,
      output_tokens: 1e7,
      unpriced_tokens: 1e6,
      cost: 1_234_500_000_000,
    })),
  );
  for (let from = 0; from < rows.length; from += 1_000) {
    await db
      .insertInto('usage_days')
      .values(rows.slice(from, from + 1_000))
      .execute();
  }
}
