import { randomBytes } from 'node:crypto';
import type { StreamConfig } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { sql } from 'kysely';
import { firstRow } from '../store/rows.ts';
import type { Db } from '../store/schema.ts';
import { rememberSetting } from '../store/settings.ts';
import { type Bus, openBus } from './bus.ts';
import { deadLettersOf } from './streams.ts';

export interface ConnectOptions {
  /** `nats://user:password@host:4222`, several separated by commas; `tls://` for encryption. */
  url: string;
  db: Db;
  log: Record<'info' | 'warn' | 'error', (sentence: string) => void>;
}

/** The oldest version that can return the next message of a subject. */
const OLDEST = [2, 9] as const;
/** The least `max_payload`: an append of `MAX_APPEND_BYTES`, the places of its events and the headers are one message. */
export const MIN_PAYLOAD_BYTES = 16 * 1024 * 1024;
/** How many copies of a message a cluster keeps. A single server keeps one. */
const COPIES = 3;

/**
 * Connects to the bus, and logs in one line which guarantees it gives.
 * @throws with a sentence if the bus cannot be reached, or does not keep messages until they are removed
 */
export async function connectBus({ url, db, log }: ConnectOptions): Promise<Bus> {
  // Two unanswered pings reveal a bus that disappeared silently. The client then reconnects at once.
  const waits = {
    timeout: 2_000,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    pingInterval: 1_500,
    maxPingOut: 2,
  };
  // Recording a stack trace for every request, in case it fails, costs a twelfth of an append.
  const options = { name: 'session-capture', ...waits, noAsyncTraces: true };
  const connection = await connect({ ...serversOf(url), ...options }).catch((error: Error) => {
    throw new Error(`no NATS server of BUS_URL accepts a connection (${error.message}); start it, or correct BUS_URL`);
  });
  try {
    return await prepare(connection, db, log);
  } catch (error) {
    await connection.close();
    throw (error as Error).name === 'JetStreamNotEnabled' ? new Error(WITHOUT_JETSTREAM) : error;
  }
}

const WITHOUT_JETSTREAM =
  'the NATS server of BUS_URL does not store messages; start it with JetStream (nats-server -js), or allow it for the account';

const LOST =
  'the event bus had no streams for this PostgreSQL, so they were created; if it has lost its data, the events that were acknowledged and not yet written are lost';

const LOST_LAST =
  'the event bus no longer has its last messages, as after a loss of power; their events that were not yet written are lost';

async function prepare(connection: NatsConnection, db: Db, log: ConnectOptions['log']): Promise<Bus> {
  const { version = '', max_payload: largest = 0 } = connection.info ?? {};
  if (isBefore(version, OLDEST)) {
    throw new Error(`the NATS server of BUS_URL is ${version}; the service needs ${OLDEST.join('.')} or later`);
  }
  if (largest < MIN_PAYLOAD_BYTES) {
    throw new Error(
      `the NATS server of BUS_URL takes messages of up to ${largest} bytes, and an append may be longer; set \`max_payload: 16MB\` or more in the configuration of every server`,
    );
  }
  let isExpected = false;
  // Each store has its own streams, so that two installations may share a bus.
  const name = await rememberSetting(db, 'bus', () => {
    isExpected = true;
    return `capture_${randomBytes(6).toString('hex')}`;
  });
  // Another process that starts at the same time may have chosen the name. A store without sessions cannot have lost streams.
  isExpected ||= !(await firstRow(db, sql`select 1 from sessions limit 1`));
  const copies = connection.info?.cluster ? COPIES : 1;
  const bus = await openBus(connection, {
    name,
    copies,
    onMade: () => isExpected || log.error(LOST),
    onLost: () => log.error(LOST_LAST),
  });
  isExpected = false;
  const infos = await Promise.all([name, deadLettersOf(name).stream].map((stream) => bus.manager.streams.info(stream)));
  for (const { config } of infos) refuseLosses(config);
  const kept = Math.min(...infos.map(({ config }) => config.num_replicas));
  log[kept < COPIES ? 'warn' : 'info'](promiseOf(connection, kept));
  return bus;
}

/** @throws with a sentence if the bus would remove messages by itself, or lose them when its process ends */
function refuseLosses(config: StreamConfig): void {
  const { name, storage, retention, discard, max_age, max_msgs, max_bytes, max_msgs_per_subject } = config;
  const losses = [
    storage !== 'file' && `storage ${storage}`,
    retention !== 'limits' && `retention ${retention}`,
    max_age > 0 && 'max_age',
    discard !== 'new' &&
      Math.max(max_msgs, max_bytes, max_msgs_per_subject) > 0 &&
      'a limit that discards old messages',
  ].filter(Boolean);
  if (losses.length === 0) return;
  throw new Error(`the stream ${name} of BUS_URL has ${losses.join(' and ')}, so it would lose events; change that`);
}

function serversOf(text: string) {
  const urls = text.split(',').map((part) => new URL(part.trim()));
  const [first] = urls;
  const credentials = first?.username
    ? { user: decodeURIComponent(first.username), pass: decodeURIComponent(first.password) }
    : {};
  const tls = first?.protocol === 'tls:' ? { tls: {} } : {};
  return { servers: urls.map(({ host }) => host), ...credentials, ...tls };
}

function isBefore(version: string, [major, minor]: readonly [major: number, minor: number]): boolean {
  const [ofMajor = 0, ofMinor = 0] = version.split('.').map(Number);
  return ofMajor < major || (ofMajor === major && ofMinor < minor);
}

/** What status 202 guarantees. */
export function promiseOf({ info }: Pick<NatsConnection, 'info'>, copies: number): string {
  const version = info?.version ?? '?';
  const sync = !isBefore(version, [2, 10])
    ? 'it syncs each message to disk before it answers only if its sync_interval is always'
    : 'it answers before it has synced a message to disk, and this version has no setting for that';
  const kept = copies === 1 ? 'in one place' : `in ${copies} places`;
  const loss =
    copies === 1 ? 'a machine that loses power may lose what it has acknowledged' : 'one machine may be lost';
  return `event bus: NATS ${version}, each message is kept ${kept}; ${sync}: ${loss}.`;
}
