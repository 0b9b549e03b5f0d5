import { sql } from 'kysely';
import { secret } from '../server/store/audit-chain.ts';
import { registerEnvironment } from '../server/store/environments.ts';
import { upsertInstallation } from '../server/store/installations.ts';
import type { Store } from '../server/store/open.ts';
import { startIssuer } from '../test/issuer.ts';
import { copyRow } from './copies.ts';
import type { Options } from './options.ts';
import { onBothEngines } from './postgres.ts';
import { startMeasured, type Where } from './process.ts';
import { median, type Row } from './report.ts';
import { type Seed, seed, seedSessions } from './seed.ts';

/** Set `BENCH_SESSIONS=100000` for a quick look. */
const SESSIONS = Number(process.env.BENCH_SESSIONS ?? 1_000_000);
/** One of this many sessions is from the rare machine, of the rare agent, or of the plane `test`. */
const RARE = { machine: 2_000, agent: 25_000, plane: 100 };
const SAMPLES = 11;
const OWNER = 'reader';

/** Measures the session list of a large organization with every filter, on both engines. Reports an engine's longest median. */
export const benchLists = ({ table }: Options): Promise<Row[]> =>
  onBothEngines((engine, where) => measureEngine(engine, where, table));

async function measureEngine(engine: string, where: Where, table: boolean): Promise<Row[]> {
  const issuer = await startIssuer();
  const { rareMachine, environmentId } = await seed(where, issuer.url, OWNER, seedMillion);
  const service = await startMeasured(where, issuer.env);
  try {
    const headers = { authorization: `Bearer ${await issuer.token(OWNER, `${OWNER}@example.com`)}` };
    const rows: Row[] = [];
    for (const [filter, query] of filters(environmentId, rareMachine)) {
      const times = await sample(`${service.url}/v1/organizations/me/sessions?${query}`, headers);
      const what = `session list of ${SESSIONS.toLocaleString('en')}, ${engine}, ${filter}`;
      const detail = `longest of ${SAMPLES} ${Math.max(...times).toFixed(1)} ms`;
      rows.push({ what, figure: median(times), unit: 'ms', goal: '≤ 20', detail });
    }
    const longest = rows.reduce((one, other) => (other.figure > one.figure ? other : one));
    return table ? rows : [{ ...longest, detail: `the longest of ${rows.length} filters; ${longest.detail}` }];
  } finally {
    await service.stop();
    issuer.close();
  }
}

/** Every combination of plane, machine and agent; machine and agent are each absent, frequent or rare. */
function filters(frequentMachine: string, rareMachine: string): [name: string, query: string][] {
  const choices = (name: string, frequent: string, rare: string) => [
    { label: '', query: '' },
    { label: `frequent ${name}`, query: frequent },
    { label: `rare ${name}`, query: rare },
  ];
  const planes = ['live', 'test', 'all'].map((plane) => ({ label: plane, query: `secretEnvironment=${plane}` }));
  const machines = choices('machine', `environmentId=${frequentMachine}`, `environmentId=${rareMachine}`);
  const agents = choices('agent', 'agentId=codex', 'agentId=cursor');
  return planes.flatMap((plane) =>
    machines.flatMap((machine) =>
      agents.map((agent): [string, string] => {
        const parts = [plane, machine, agent].filter(({ query }) => query !== '');
        return [parts.map(({ label }) => label).join(' + '), parts.map(({ query }) => query).join('&')];
      }),
    ),
  );
}

async function sample(url: string, headers: Record<string, string>): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < SAMPLES; n++) {
    const started = performance.now();
    const reply = await fetch(url, { headers });
    if (reply.status !== 200) throw new Error(`${url} answered ${reply.status}: ${await reply.text()}`);
    await reply.arrayBuffer();
    times.push(performance.now() - started);
  }
  return times;
}

/** Copies a normally opened session inside the store. */
async function seedMillion(store: Store, made: Seed): Promise<{ rareMachine: string }> {
  const now = Date.now();
  const machine = { hostname: 'rare', platform: 'linux' as const, serviceCliVersion: '0.1.0' };
  const { row } = await registerEnvironment(store.db, { ...made, secretId: 'sec_bench' }, machine, now);
  const rareMachine = row.environment_id;
  const { organizationId, environmentId } = made;
  const rareAgent = await upsertInstallation(
    store.db,
    organizationId,
    { agentId: 'cursor', environmentId },
    secret('sec_bench'),
    now,
  );
  const [first] = await seedSessions(store, made, 1);
  const every = (count: number, rare: string, column: string) =>
    sql`CASE WHEN n % ${sql.lit(count)} = 0 THEN ${sql.lit(rare)} ELSE ${sql.ref(column)} END`;
  const changed: Record<string, ReturnType<typeof every>> = {
    // The copies have ascending keys, so that the indexes grow at their ends.
    session_id: sql`${sql.lit('ses_copy')} || CAST(10000000 + n AS text)`,
    started_at: sql`started_at - n * 1000`,
    plane: every(RARE.plane, 'test', 'plane'),
    environment_id: every(RARE.machine, rareMachine, 'environment_id'),
    agent_id: every(RARE.agent, 'cursor', 'agent_id'),
    installation_id: every(RARE.agent, rareAgent.installation_id, 'installation_id'),
  };
  await copyRow(store, 'sessions', String(first), SESSIONS, changed);
  // PostgreSQL would run this by itself some time later.
  if (store.engine === 'postgres') await sql`ANALYZE`.execute(store.db);
  return { rareMachine };
}
