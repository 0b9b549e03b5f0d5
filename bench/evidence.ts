import { generateKeyPairSync } from 'node:crypto';
import { chainStart, checkChain, contentDigest } from '../contract/chain.ts';
import { newChainKey, saltKeysOf } from '../contract/salts.ts';
import { headAfter } from '../contract/test/heads.ts';
import { AuditKey } from '../server/audit/heads.ts';
import { Background } from '../server/background.ts';
import { Witness } from '../server/evidence/witness.ts';
import { decodeFrame } from '../server/log/frame.ts';
import { readAppends } from '../server/store/events.ts';
import type { Store } from '../server/store/open.ts';
import { CONNECTIONS, loadService } from './append/measure.ts';
import type { Options } from './options.ts';
import { withFolder } from './process.ts';
import { median, type Row } from './report.ts';
import { type Seed, seed, seedEvents, seedSessions } from './seed.ts';
import { createEvents } from './text.ts';

const VERIFIED = 50_000;
/** Passes of countersigning. In each, every session has as many new appends as a busy session gets in a second. */
const PASSES = 12;
const APPENDS = 7;
const BATCH = 50;

/** Compares the cost of countersigning appends with the cost of the appends, and measures how fast a chain is checked. */
export const benchEvidence = async ({ seconds, rounds }: Options): Promise<Row[]> => {
  const shares: number[] = [];
  const costs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const cost = await withFolder(measureSigning);
    const load = { batchSize: BATCH, encoding: 'zstd', seconds } as const;
    const { service, deriving } = await withFolder((dataDir) => loadService({ dataDir }, load));
    costs.push(cost);
    shares.push((100 * cost) / (service - deriving - cost));
  }
  return [
    {
      what: `countersigning ${BATCH} × 1 KiB, processor time`,
      figure: median(costs),
      unit: 'µs an append',
      goal: '',
      detail: `${CONNECTIONS} sessions a pass, ${APPENDS} appends each`,
    },
    {
      what: 'the same, more than the append without it',
      figure: median(shares),
      unit: '%',
      goal: '≤ 5',
      detail: 'in the background: no append waits for it',
    },
    measureChecking(),
  ];
};

const measureSigning = (dataDir: string): Promise<number> =>
  seed({ dataDir }, 'bench', 'owner', async (store, made) => ({ cost: await signAll(store, made) })).then(
    ({ cost }) => cost,
  );

/** @returns the processor time of all threads in µs an append */
async function signAll(store: Store, made: Seed): Promise<number> {
  const key = new AuditKey(generateKeyPairSync('ed25519').privateKey);
  const background = new Background({ atOnce: 2, onError: console.error });
  const witness = new Witness({ db: store.db, key, background, now: Date.now });
  const ids = await seedSessions(store, made, PASSES * CONNECTIONS);
  const makeEvent = createEvents(9);
  for (const id of ids) await seedEvents(store, made, id, APPENDS * BATCH, makeEvent);
  const costs: number[] = [];
  for (let pass = 0; pass < PASSES; pass++) {
    let cost = 0;
    for (const sessionId of ids.slice(pass * CONNECTIONS, (pass + 1) * CONNECTIONS)) {
      witness.note({ organizationId: made.organizationId, sessionId, eventCount: APPENDS * BATCH });
      cost += await digestDerived(store, made, sessionId, witness);
    }
    const before = process.cpuUsage();
    await witness.signNoted();
    costs.push((cost + timeSince(before)) / (CONNECTIONS * APPENDS));
  }
  await background.close();
  return median(costs);
}

/** @returns the processor time in µs that the deriving thread spends on digests of the events that it reads anyway */
async function digestDerived(
  { db }: Store,
  { organizationId }: Seed,
  sessionId: string,
  witness: Witness,
): Promise<number> {
  witness.digestFrom(sessionId, 1);
  let cost = 0;
  for await (const append of readAppends(db, organizationId, sessionId, 1, APPENDS * BATCH)) {
    const events = decodeFrame(append).map(({ eventType, payload }) => ({
      eventType,
      text: Buffer.from(payload).toString('utf8'),
    }));
    const before = process.cpuUsage();
    const digests = events.map(({ eventType, text }) => contentDigest(eventType, text));
    // Clone the digests, as passing them between threads does.
    witness.takeDigests(sessionId, structuredClone([{ first: append.first_sequence, digests }]));
    cost += timeSince(before);
  }
  return cost;
}

function timeSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function measureChecking(): Row {
  const makeEvent = createEvents(9);
  const events = Array.from({ length: VERIFIED }, (_, at) => {
    const { eventType, payload } = makeEvent(1024);
    return { sequence: at + 1, eventType, payload: JSON.stringify(payload) };
  });
  const start = chainStart('codex', 'bench');
  const saltKeys = saltKeysOf(newChainKey());
  const head = headAfter(start, events, saltKeys);
  const begun = performance.now();
  const problem = checkChain({ start: start.hash, head, masked: new Map(), saltKeys }, events);
  if (problem !== undefined) throw new Error(problem);
  return {
    what: `checking the chain of ${VERIFIED.toLocaleString('en-US')} events of 1 KiB`,
    figure: (performance.now() - begun) / 1000,
    unit: 's',
    goal: '≤ 2',
    detail: 'without reading the file',
  };
}
