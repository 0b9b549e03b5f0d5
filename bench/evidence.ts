import { generateKeyPairSync } from 'node:crypto';
import { chainStart, checkChain } from '../contract/chain.ts';
import { newChainKey, saltKeysOf } from '../contract/salts.ts';
import { headAfter } from '../contract/test/heads.ts';
import { AuditKey } from '../server/audit/heads.ts';
import { Background } from '../server/background.ts';
import { followAppends } from '../server/derive/follow-appends.ts';
import { Countersigner } from '../server/evidence/countersigner.ts';
import type { Store } from '../server/store/open.ts';
import { CONNECTIONS, loadService } from './append/measure.ts';
import type { Options } from './options.ts';
import { withFolder } from './process.ts';
import { median, type Row } from './report.ts';
import { type Seed, seed, seedEvents, seedSessions } from './seed.ts';
import { createEvents } from './text.ts';

const VERIFIED = 50_000;
/** Passes of countersigning. In each, as many sessions as there are connections have ended. */
const PASSES = 12;
const APPENDS = 20;
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
      what: `countersigning a session that ended, ${BATCH} × 1 KiB, processor time`,
      figure: median(costs),
      unit: 'µs an append',
      goal: '',
      detail: `once a session: ${APPENDS} appends each`,
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
  const thread = { follow: async (job: Parameters<typeof followAppends>[0]) => followAppends(job) };
  const countersigner = new Countersigner({ db: store.db, key, thread, background, now: Date.now });
  const ids = await seedSessions(store, made, PASSES * CONNECTIONS);
  const makeEvent = createEvents(9);
  for (const id of ids) await seedEvents(store, made, id, APPENDS * BATCH, makeEvent);
  const costs: number[] = [];
  for (let pass = 0; pass < PASSES; pass++) {
    const before = process.cpuUsage();
    for (const sessionId of ids.slice(pass * CONNECTIONS, (pass + 1) * CONNECTIONS)) {
      await countersigner.signSoon({ organizationId: made.organizationId, sessionId, eventCount: APPENDS * BATCH });
    }
    costs.push(timeSince(before) / (CONNECTIONS * APPENDS));
  }
  await background.close();
  return median(costs);
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
