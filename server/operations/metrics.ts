import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Bus } from '../bus/bus.ts';
import type { AppendObserver } from '../ingest/session-log.ts';
import type { Store } from '../store/open.ts';

/** Observes the work behind the answers. */
export interface Observer {
  onAppend: AppendObserver;
  /** A worker has committed this many events together. */
  onWritten(events: number): void;
  /** A session was derived, this many milliseconds after its last change. */
  onDerived(lagMs: number): void;
  /** Work took too long and was given up. */
  onGivenUp(kind: 'background' | 'body' | 'derive'): void;
  /** Looks at sessions were written, will be retried because the store is away, or were dropped because too many wait. */
  onSessionViews(outcome: 'written' | 'retried' | 'dropped', looks: number): void;
  /** Reports the state of the service. */
  watchService(state: ServiceState): void;
}

/** Functions that say how the service is now. */
export interface ServiceState {
  /** The number of sessions that wait to be derived. */
  behind: () => number;
  /** 1 while the clock is doubted, otherwise 0. */
  doubted: () => number;
  /** The number of sessions that were found damaged. */
  damaged: () => number;
  /** The largest used share of each storage quota. */
  quotas: () => Record<string, number>;
}

/** The scheduled backups. */
interface Backups {
  everyMs: number;
  /** The newest complete backup. */
  last(): Promise<LastBackup | undefined>;
}

interface LastBackup {
  /** Epoch milliseconds. */
  at: number;
  bytes: number;
}

/** The metrics of a running service, in the text format of Prometheus. No label contains values that callers choose. */
export interface Metrics extends Observer {
  /** Counts the connections of the store. */
  watchStore(store: Store): void;
  /** Counts the messages of the event bus. */
  watchBus(bus: Bus): void;
  /** Reports the last backup. */
  watchBackups(backups: Backups, now?: () => number): void;
  /** Counts the answers of the app. The app must not listen yet. */
  watchApp(app: FastifyInstance): void;
  /** All metrics as text, and their content type. */
  read(): Promise<{ text: string; contentType: string }>;
}

/** In seconds. An append of a batch takes one to five milliseconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
const EVENTS = [1, 2, 5, 10, 20, 30, 40, 50];
/** The events of a worker's commit, which contains up to 500 appends. */
const BATCH_EVENTS = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000];
const LAG_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];

/** Metrics that are counted as events happen. */
const COUNTED = {
  requests: [
    'histogram',
    'capture_http_request_seconds',
    'Time from the head of a request to the end of its answer',
    ['method', 'route', 'status'],
    SECONDS,
  ],
  commits: [
    'histogram',
    'capture_append_commit_seconds',
    'Time an append waits for its store, commit included',
    ['outcome'],
    SECONDS,
  ],
  events: ['histogram', 'capture_append_events', 'Events of an append', [], EVENTS],
  bytes: ['histogram', 'capture_append_bytes', 'Bytes of an append as it is stored', [], BYTES],
  replays: [
    'counter',
    'capture_append_replays_total',
    'Appends that were repeated under their key, and stored once',
    [],
  ],
  waiting: ['gauge', 'capture_appends_waiting', 'Appends that wait for the store', []],
  written: ['histogram', 'capture_worker_batch_events', 'Events that a worker wrote in one commit', [], BATCH_EVENTS],
  derived: [
    'histogram',
    'capture_derive_lag_seconds',
    'Time from the last change of a session until it was derived',
    [],
    LAG_SECONDS,
  ],
  givenUp: [
    'counter',
    'capture_work_given_up_total',
    'Work that took longer than its deadline: reading a large body, deriving a session, other work beside the answers',
    ['kind'],
  ],
  looks: [
    'counter',
    'capture_session_looks_total',
    'Looks at sessions that were written, are tried again because the store is away, or were dropped because too many wait',
    ['outcome'],
  ],
} as const satisfies Record<string, Row>;

type Row = readonly [
  kind: keyof typeof KINDS,
  name: string,
  help: string,
  labelNames: readonly string[],
  buckets?: readonly number[],
];

const KINDS = { histogram: Histogram, counter: Counter, gauge: Gauge };

type Counted = { [Key in keyof typeof COUNTED]: InstanceType<(typeof KINDS)[(typeof COUNTED)[Key][0]]> };

/** Metrics that are computed when they are read. A metric with a label has one value for each value of the label. */
const COMPUTED = {
  connections: ['capture_store_connections', 'Connections to PostgreSQL, and requests that wait for one', 'state'],
  behind: ['capture_derive_waiting', 'Sessions that wait to be derived, as far as this process knows', undefined],
  damaged: ['capture_damaged_sessions', 'Sessions whose events this process found damaged in the store', undefined],
  doubted: [
    'capture_clock_doubted',
    'Whether nothing is deleted because of its age, because the clock differs from the time of the store',
    undefined,
  ],
  quotas: [
    'capture_quota_used_ratio',
    'Largest share of a storage quota that an organization has used, as far as this process knows; at 1 it is refused more',
    'quota',
  ],
  messages: [
    'capture_bus_messages',
    'Messages on the event bus that no worker has written yet, and those that could not be written',
    'state',
  ],
  oldest: ['capture_bus_oldest_seconds', 'Age of the oldest message that no worker has written yet', undefined],
  backupAge: ['capture_backup_age_seconds', 'Age of the last good backup; infinite where there is none', undefined],
  backupBytes: ['capture_backup_bytes', 'Size of the last good backup', undefined],
  backupInterval: ['capture_backup_interval_seconds', 'Time between two backups, as configured', undefined],
  connected: ['capture_bus_connected', 'Whether this process has a connection to the event bus', undefined],
} as const;

/** A value, or one for each value of the label; undefined keeps the last values. */
type Answer = number | Record<string, number> | undefined;

/** How often the delay of the event loop is measured. Every 10 ms, the library's default, costs an idle service 3 ms of processor time a second. */
const LAG_EVERY_MS = 100;

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_EVERY_MS });
  const counted = Object.fromEntries(
    Object.entries(COUNTED).map(([key, [kind, name, help, labelNames, buckets]]: [string, Row]) => [
      key,
      new KINDS[kind]({ name, help, labelNames, registers, ...(buckets && { buckets: [...buckets] }) }),
    ]),
  ) as unknown as Counted;

  function answerWith(figure: keyof typeof COMPUTED, ask: () => Answer | Promise<Answer>): void {
    const [name, help, label] = COMPUTED[figure];
    new Gauge({
      name,
      help,
      labelNames: label ? [label] : [],
      registers,
      async collect() {
        const answer = await ask();
        if (typeof answer === 'number') this.set(answer);
        else for (const [value, figure] of Object.entries(answer ?? {})) this.set({ [String(label)]: value }, figure);
      },
    });
  }

  return {
    onAppend(size) {
      const end = counted.commits.startTimer();
      counted.events.observe(size.events);
      counted.bytes.observe(size.bytes);
      counted.waiting.inc();
      return (outcome) => {
        counted.waiting.dec();
        if (outcome === 'replayed') counted.replays.inc();
        end({ outcome: outcome === 'refused' ? 'refused' : 'stored' });
      };
    },
    onWritten: (count) => counted.written.observe(count),
    onGivenUp: (kind) => counted.givenUp.inc({ kind }),
    onSessionViews: (outcome, looks) => counted.looks.inc({ outcome }, looks),
    onDerived: (lagMs) => counted.derived.observe(Math.max(0, lagMs) / 1000),
    watchService({ behind, doubted, damaged, quotas }) {
      answerWith('behind', behind);
      answerWith('doubted', doubted);
      answerWith('damaged', damaged);
      answerWith('quotas', quotas);
    },

    watchStore(store) {
      const { pool } = store;
      if (pool) {
        answerWith('connections', () => ({
          busy: pool.totalCount - pool.idleCount,
          idle: pool.idleCount,
          waiting: pool.waitingCount,
        }));
      }
    },

    watchBus(bus) {
      answerWith('messages', async () => {
        const backlog = await bus.backlog().catch(() => undefined);
        return backlog && { waiting: backlog.waiting, dead_letter: backlog.deadLetters };
      });
      answerWith('oldest', async () => {
        const oldest = await bus.oldestWaiting().catch(() => undefined);
        return oldest ? (Date.now() - oldest.time.getTime()) / 1000 : oldest === null ? 0 : undefined;
      });
      answerWith('connected', () => (bus.isConnected() ? 1 : 0));
    },

    watchBackups(backups, now = Date.now) {
      const ask = (of: (last: LastBackup | undefined) => Answer) => async () => of(await backups.last());
      const ageOf = ({ at }: LastBackup) => (now() - at) / 1000;
      answerWith(
        'backupAge',
        ask((last) => (last ? ageOf(last) : Number.POSITIVE_INFINITY)),
      );
      answerWith(
        'backupBytes',
        ask((last) => last?.bytes ?? 0),
      );
      answerWith('backupInterval', () => backups.everyMs / 1000);
    },

    watchApp(app) {
      app.addHook('onResponse', (request, reply, done) => {
        const { method, routeOptions } = request;
        const labels = {
          method: METHODS.has(method) ? method : 'other',
          route: nameOf(routeOptions.url),
          status: String(reply.statusCode),
        };
        counted.requests.observe(labels, reply.elapsedTime / 1000);
        done();
      });
    },

    async read() {
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The pattern of the route. All files of the dashboard count together. */
function nameOf(url: string | undefined): string {
  if (url === undefined) return 'unknown';
  return url.startsWith('/assets/') ? '/assets/' : url;
}
