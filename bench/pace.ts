import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../server/public-url.ts';
import { startIssuer } from '../test/issuer.ts';
import { settled } from './append/measure.ts';
import type { Options } from './options.ts';
import { startMeasured, withFolder } from './process.ts';
import type { Row } from './report.ts';
import { createCorpus } from './search-corpus.ts';
import { seed, seedEvents, seedSessions } from './seed.ts';

/** The events of the session before it is measured. */
const SIZES = [1_500, 15_000];
/** Single events a second, as an agent at work sends them. */
const RATE = 6;
/** Open sessions are derived every 20 seconds, so a shorter measurement would not say anything. */
const MIN_S = 60;
/** Appends before the measurement, since compiling the service's code takes a second of processor time. */
const WARM = 5_000;
/** Each question for the metrics takes 3 ms of the service, so more questions would count for the events. */
const ASK_MS = 2_000;

/** Measures what single events of a session at the pace of a person cost the embedded store, deriving included. */
export async function benchPace({ seconds }: Options): Promise<Row[]> {
  const rows: Row[] = [];
  for (const size of SIZES) {
    const { cpu, written, bytes } = await withFolder((dataDir) => measure(dataDir, size, Math.max(MIN_S, seconds)));
    const after = `${RATE} single events a second, session of ${size.toLocaleString('en')}`;
    const detail = `mixed events of ${bytes.toFixed(2)} KiB, until all is derived`;
    rows.push(
      { what: `${after}: written`, figure: written, unit: 'KiB an event', goal: '≤ 24', detail },
      { what: `${after}: processor time`, figure: cpu, unit: 'ms an event', goal: '≤ 1.5', detail },
    );
  }
  return rows;
}

async function measure(dataDir: string, size: number, seconds: number) {
  const issuer = await startIssuer();
  const makeEvent = createCorpus(7);
  const { secret, sessions } = await seed({ dataDir }, issuer.url, 'owner', async (store, made) => {
    const ids = await seedSessions(store, made, 2);
    await seedEvents(store, made, ids[0] as string, size, makeEvent);
    return { sessions: ids };
  });
  const operations = await freePort('127.0.0.1');
  const service = await startMeasured({ dataDir }, { ...issuer.env, OPERATIONS_PORT: String(operations) });
  const append = async (session = sessions[0]) => {
    const body = JSON.stringify({ events: [makeEvent()] });
    const headers = {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    };
    const answer = await fetch(`${service.url}/v1/sessions/${session}/events`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`an append was answered with ${answer.status}`);
    return body.length;
  };
  const written = () => Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${service.pid}/io`, 'utf8'))?.[1]);
  try {
    // The code is compiled, and the thread has the session.
    for (let n = 0; n < WARM; n++) await append(sessions[1]);
    for (let n = 0; n < 50; n++) await append();
    await settled(operations, ASK_MS);
    const before = { cpu: service.cpuSeconds(), written: written() };
    const count = seconds * RATE;
    let bytes = 0;
    const begun = performance.now();
    for (let n = 0; n < count; n++) {
      await wait(Math.max(0, begun + (n * 1000) / RATE - performance.now()));
      bytes += await append();
    }
    await settled(operations, ASK_MS);
    return {
      cpu: ((service.cpuSeconds() - before.cpu) / count) * 1000,
      written: (written() - before.written) / 1024 / count,
      bytes: bytes / 1024 / count,
    };
  } finally {
    await service.stop();
    issuer.close();
  }
}
