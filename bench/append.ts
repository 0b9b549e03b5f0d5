import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { startIssuer } from './issuer.ts';
import { postRequest, runLoad } from './load.ts';
import { startService, withFolder } from './process.ts';
import type { Row } from './report.ts';
import { seed, seedSessions } from './seed.ts';
import { createEvents } from './text.ts';

const BARE_LOOP = fileURLToPath(new URL('./bare-loop.ts', import.meta.url));
const CONNECTIONS = 16;

/** Appends against the bare loop, in turn, `rounds` times; the ratio is the median of the rounds' ratios. */
export async function benchAppends(seconds = 5, rounds = 3): Promise<Row[]> {
  return [await compare(50, 0.8, seconds, rounds), await compare(1, 1.2, seconds, rounds)];
}

async function compare(batchSize: number, goal: number, seconds: number, rounds: number): Promise<Row> {
  const ratios: number[] = [];
  let last = { service: 0, bare: 0, cpu: 0 };
  for (let round = 0; round < rounds; round++) {
    const bare = await withFolder(async (folder) => runBareLoop(folder, batchSize, seconds));
    const service = await withFolder((folder) => loadService(folder, batchSize, seconds));
    ratios.push(service.rate / bare);
    last = { service: service.rate, bare, cpu: service.cpu };
  }
  const ratio = ratios.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
  const detail = `${Math.round(last.service)}/s against ${Math.round(last.bare)}/s; ${Math.round(last.cpu)} µs of CPU each`;
  return { what: `appends of ${batchSize} × 1 KiB ÷ bare loop`, figure: ratio, unit: '×', goal: `≥ ${goal}`, detail };
}

const runBareLoop = (folder: string, batchSize: number, seconds: number) =>
  Number(execFileSync(process.execPath, [BARE_LOOP, folder, String(batchSize), String(seconds)], { encoding: 'utf8' }));

/** Batches a second that the service acknowledges, authenticated and with an idempotency key each; CPU in µs a batch. */
async function loadService(folder: string, batchSize: number, seconds: number): Promise<{ rate: number; cpu: number }> {
  const issuer = await startIssuer();
  const seeded = await seed(folder, issuer.url, 'owner', async (store, made) => ({
    sessions: await seedSessions(store, made, CONNECTIONS),
  }));
  const service = await startService(folder, { ...issuer.env, NODE_FLAGS: process.env.BENCH_NODE_FLAGS ?? '' });
  const makeEvent = createEvents(1);
  const bodies = Array.from({ length: 200 }, () =>
    JSON.stringify({ events: Array.from({ length: batchSize }, () => makeEvent(1024)) }),
  );
  let next = 0;
  const nextRequest = (connection: number) => {
    const path = `/v1/sessions/${seeded.sessions[connection]}/events`;
    return postRequest(path, seeded.secret, bodies[next++ % bodies.length] ?? '', { 'idempotency-key': randomUUID() });
  };
  try {
    await runLoad({ port: service.port, connections: CONNECTIONS, seconds: 1, nextRequest });
    const cpuBefore = service.cpuSeconds();
    const result = await runLoad({ port: service.port, connections: CONNECTIONS, seconds, nextRequest });
    if (result.failures > 0) throw new Error(`${result.failures} appends failed`);
    const cpu = ((service.cpuSeconds() - cpuBefore) / result.requests) * 1e6;
    return { rate: result.requests / result.seconds, cpu };
  } finally {
    await service.stop();
    issuer.close();
  }
}
