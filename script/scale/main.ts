import { setTimeout as pause } from 'node:timers/promises';
import { cpuByKind } from '../../bench/process.ts';
import { seed } from '../../bench/seed.ts';
import { startIssuer } from '../../test/issuer.ts';
import { type Answers, countStored, createLoad, openSession } from './load.ts';
import { startTopology } from './topology.ts';

const WRITERS = 16;
/** The number of appends that must be acknowledged after each change before the next one. */
const APPENDS = 20 * WRITERS;
/** A cluster without its leader elects another one within seconds, on a busy machine within a minute. */
const PATIENCE_MS = 120_000;

const print = (line: string) => void process.stdout.write(`${line}\n`);
const issuer = await startIssuer();
const { seeded, ...topology } = await startTopology(issuer.env, (where) =>
  seed(where, issuer.url, 'owner', async () => ({})),
);
const { parts } = topology;
const sessions = await Promise.all(Array.from({ length: WRITERS }, () => openSession(topology.url, seeded)));
print(
  `Two replicas behind HAProxy, two workers, three NATS servers, PostgreSQL; ${WRITERS} sessions written to through the proxy.\n`,
);
print('| phase | requests | 202 | others | longest |\n| --- | ---: | ---: | --- | ---: |');

const load = createLoad(topology.url, seeded.secret, sessions);
const failures: string[] = [];

/** @param allowed the other statuses that the phase may have besides 202 */
async function phase(what: string, work: () => Promise<unknown>, allowed: RegExp): Promise<Answers> {
  load.take();
  await work();
  const answers = load.take();
  const others = Object.entries(answers.others);
  const told = others.map(([status, count]) => `${count} × ${status}`).join(', ');
  print(`| ${what} | ${answers.requests} | ${answers.acknowledged} | ${told} | ${Math.round(answers.longest)} ms |`);
  for (const [status, count] of others) if (!allowed.test(status)) failures.push(`${what}: ${count} × ${status}`);
  if (answers.acknowledged === 0) failures.push(`${what}: nothing was acknowledged`);
  return answers;
}

const IN_USE = /^capture_(http_request_seconds_count\{.*status="202"\}|worker_batch_events_count) [1-9]/m;
const NONE = /^$/;
/** The proxy answers 502 if a replica ends in the middle of an answer; the client then retries. */
const PASSING = /^(50[234]|50[234] of the proxy|broken|no answer)$/;

const before = cpuByKind();
const steady = await phase('all is well', () => untilAcknowledged(4 * APPENDS), NONE);
const after = cpuByKind();
await phase(
  'rolling restart: each replica and worker ended by SIGTERM and started again',
  async () => {
    for (const name of ['api-1', 'api-2', 'worker-1', 'worker-2'] as const) {
      const code = await parts[name].ask?.();
      if (code !== 0) failures.push(`${name} ended with ${code}`);
      await parts[name].start();
      // Wait until it gets requests from the proxy or messages from the bus before the next one restarts.
      await until(async () => IN_USE.test(await topology.figures(name)));
    }
  },
  NONE,
);
for (const name of ['api-1', 'worker-1', 'nats-1', 'nats-2', 'postgres'] as const) {
  const breakIt = async () => {
    await parts[name].kill();
    await untilAcknowledged(APPENDS);
  };
  await phase(`${name} killed`, breakIt, name === 'worker-1' || name === 'postgres' ? NONE : PASSING);
  const mendIt = async () => {
    await parts[name].start();
    await untilAcknowledged(APPENDS);
  };
  await phase(`${name} is back`, mendIt, PASSING);
}
await load.stop();
await untilWritten();
const count = await countStored(topology.databaseUrl, load.acknowledged);
print(`\n${JSON.stringify(count)}`);
if (count.lost + count.doubled + count.gaps > 0)
  failures.push('the store lacks acknowledged appends, or has them twice or with gaps');
print('\nProcessor time of an append without faults, of all processes of a kind together:\n');
for (const [name, seconds] of Object.entries(after)) {
  const used = ((seconds - (before[name] ?? 0)) / steady.acknowledged) * 1e6;
  print(`| ${name} | ${Math.round(used)} µs |`);
}
await topology.stop();
issuer.close();
print(
  failures.length === 0
    ? '\nThe store has every acknowledged append once and in order.'
    : `\nFAILED:\n${failures.join('\n')}`,
);
process.exit(failures.length === 0 ? 0 : 1);

async function untilAcknowledged(count: number): Promise<void> {
  const goal = load.acknowledged.length + count;
  await until(async () => load.acknowledged.length >= goal);
}

/** @throws if the condition does not become true and no append is acknowledged for `PATIENCE_MS` */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  let [before, end] = [-1, 0];
  while (!(await isSo())) {
    const count = load.acknowledged.length;
    if (count > before) [before, end] = [count, performance.now() + PATIENCE_MS];
    if (performance.now() > end) throw new Error('nothing was acknowledged for two minutes');
    await pause(100);
  }
}

/** Waits until the workers have written all messages of the bus. */
async function untilWritten(): Promise<void> {
  await until(async () => /^capture_bus_messages\{state="waiting"\} 0$/m.test(await topology.figures('worker-1')));
}
