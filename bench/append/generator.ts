import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { zstdCompressSync } from 'node:zlib';
import { quantile } from '../report.ts';
import { createCorpus } from '../search-corpus.ts';
import { createEvents } from '../text.ts';
import { type LoadResult, postHead, runLoad } from './connections.ts';

/** The generator's task, given as JSON in its first argument. */
export interface Task {
  port: number;
  secret: string;
  /** One session for each connection. */
  sessions: string[];
  batchSize: number;
  /** Whether the events are of all kinds; otherwise each is a message of 1 KiB of prose. */
  isMixed?: boolean;
  encoding: 'plain' | 'zstd';
  seconds: number;
  /** Appends a second; by default as many as the service answers. */
  rate?: number | undefined;
}

/** The result that it prints at the end. It first prints `warm`, and starts to measure once its input ends. */
export interface Measured {
  requests: number;
  seconds: number;
  /** Bytes of an append before its compression, on average. */
  bytes: number;
  /** Processor time of the generator, in µs a request. */
  cpu: number;
  /** Time of an append, in ms. */
  p50: number;
  p99: number;
}

const BODIES = 200;

/** Appends before the measurement, since compiling the service's code takes a second of processor time. */
const WARM = { requests: 5_000, seconds: 10 };

async function warm(load: (seconds: number) => Promise<LoadResult>): Promise<void> {
  const until = performance.now() + WARM.seconds * 1000;
  for (let done = 0; done < WARM.requests && performance.now() < until; ) done += (await load(0.5)).requests;
}

/** Runs in a separate process, so that its processor time can be measured separately. */
async function generate(task: Task): Promise<void> {
  const { port, secret, sessions, batchSize, encoding } = task;
  const makeEvent = task.isMixed ? createCorpus(1) : createEvents(1);
  let bytes = 0;
  const bodies = Array.from({ length: BODIES }, () => {
    const plain = Buffer.from(JSON.stringify({ events: Array.from({ length: batchSize }, () => makeEvent(1024)) }));
    bytes += plain.byteLength / BODIES;
    return encoding === 'zstd' ? zstdCompressSync(plain) : plain;
  });
  const extra: Record<string, string> = encoding === 'zstd' ? { 'content-encoding': 'zstd' } : {};
  let next = 0;
  const nextRequest = (connection: number): [string, Buffer] => {
    const body = bodies[next++ % bodies.length] as Buffer;
    const path = `/v1/sessions/${sessions[connection]}/events`;
    return [postHead(path, secret, body.byteLength, { ...extra, 'idempotency-key': randomUUID() }), body];
  };
  const load = (seconds: number) =>
    runLoad({ port, connections: sessions.length, seconds, rate: task.rate, nextRequest });
  await warm(load);
  process.stdout.write('warm\n');
  await once(process.stdin.resume(), 'end');
  const before = process.cpuUsage();
  const { requests, seconds, failures, times } = await load(task.seconds);
  const { user, system } = process.cpuUsage(before);
  if (failures > 0) throw new Error(`${failures} of ${requests} appends failed`);
  const told = { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  const measured: Measured = { requests, seconds, bytes, cpu: (user + system) / requests, ...told };
  process.stdout.write(`${JSON.stringify(measured)}\n`);
}

await generate(JSON.parse(process.argv[2] ?? '') as Task);
