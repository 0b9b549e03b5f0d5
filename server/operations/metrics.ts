import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Bus } from '../bus/bus.ts';
import type { StoreAppend } from '../store/appends.ts';
import type { Store } from '../store/open.ts';

/** Is told of what happens beside the answers. */
export interface Observer {
  /** A worker has committed so many events together. */
  onWritten(events: number): void;
  /** A session was derived, so many milliseconds after its last change. */
  onDerived(lagMs: number): void;
  /** Work took too long and was given up. */
  onGivenUp(kind: 'background' | 'body' | 'derive'): void;
  /** Asked for the sessions that wait to be derived, each time the figures are read. */
  onBehind(count: () => number): void;
}

/** What a running service tells of itself, in the form of Prometheus. No label has values that callers choose. */
export interface Metrics extends Observer {
  /** The store, with its appends and connections counted. */
  watchStore(store: Store): Store;
  /** The event bus, with its appends and messages counted. */
  watchBus(bus: Bus): Bus;
  /** Counts the answers of the app, which must not have begun to listen. */
  watchApp(app: FastifyInstance): void;
  /** The text of all figures, and its content type. */
  read(): Promise<{ text: string; contentType: string }>;
}

/** Seconds; an append of a batch takes one to five milliseconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
const EVENTS = [1, 2, 5, 10, 20, 30, 40, 50];
/** Of a worker's commit, which takes up to 500 appends. */
const BATCH_EVENTS = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000];
const LAG_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'capture_http_request_seconds',
    help: 'Time from the head of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: SECONDS,
    registers,
  });
  const commits = new Histogram({
    name: 'capture_append_commit_seconds',
    help: 'Time for which an append waits for its store, commit included',
    labelNames: ['outcome'] as const,
    buckets: SECONDS,
    registers,
  });
  const events = new Histogram({
    name: 'capture_append_events',
    help: 'Events of an append',
    buckets: EVENTS,
    registers,
  });
  const bytes = new Histogram({
    name: 'capture_append_bytes',
    help: 'Bytes of an append as it is stored',
    buckets: BYTES,
    registers,
  });
  const replays = new Counter({
    name: 'capture_append_replays_total',
    help: 'Appends that were repeated under their key, and stored once',
    registers,
  });
  const waiting = new Gauge({
    name: 'capture_appends_waiting',
    help: 'Appends that wait for the store',
    registers,
  });

  const written = new Histogram({
    name: 'capture_worker_batch_events',
    help: 'Events that a worker has written in one commit',
    buckets: BATCH_EVENTS,
    registers,
  });
  const derived = new Histogram({
    name: 'capture_derive_lag_seconds',
    help: 'Time from the last change of a session until it was derived',
    buckets: LAG_SECONDS,
    registers,
  });

  const givenUp = new Counter({
    name: 'capture_work_given_up_total',
    help: 'Work that took longer than its deadline: reading a large body, deriving a session, other work beside the answers',
    labelNames: ['kind'] as const,
    registers,
  });

  async function watch<Outcome>(size: { events: number; bytes: number }, append: () => Promise<Outcome>) {
    const end = commits.startTimer();
    events.observe(size.events);
    bytes.observe(size.bytes);
    waiting.inc();
    try {
      const outcome = await append();
      end({ outcome: 'stored' });
      return outcome;
    } catch (error) {
      end({ outcome: 'refused' });
      throw error;
    } finally {
      waiting.dec();
    }
  }

  const watchAppend =
    (append: StoreAppend): StoreAppend =>
    async (batch) => {
      const outcome = await watch({ events: batch.count, bytes: batch.body.byteLength }, () => append(batch));
      if (outcome.replayed) replays.inc();
      return outcome;
    };

  const watchPublish =
    (publish: Bus['publish']): Bus['publish'] =>
    async (message) => {
      const { entry, body } = message;
      if (entry.kind !== 'append') return publish(message);
      const size = { events: entry.lastSequence - entry.firstSequence + 1, bytes: body?.byteLength ?? 0 };
      return watch(size, () => publish(message));
    };

  function watchPool(pool: NonNullable<Store['pool']>): void {
    new Gauge({
      name: 'capture_store_connections',
      help: 'Connections to PostgreSQL, and requests that wait for one',
      labelNames: ['state'] as const,
      registers,
      collect() {
        this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
        this.set({ state: 'idle' }, pool.idleCount);
        this.set({ state: 'waiting' }, pool.waitingCount);
      },
    });
  }

  return {
    onWritten: (count) => written.observe(count),
    onGivenUp: (kind) => givenUp.inc({ kind }),
    onDerived: (lagMs) => derived.observe(Math.max(0, lagMs) / 1000),
    onBehind(count) {
      new Gauge({
        name: 'capture_derive_waiting',
        help: 'Sessions that wait to be derived, as far as this process was told',
        registers,
        collect() {
          this.set(count());
        },
      });
    },

    watchStore(store) {
      if (store.pool) watchPool(store.pool);
      return { ...store, append: watchAppend(store.append) };
    },

    watchBus(bus) {
      new Gauge({
        name: 'capture_bus_messages',
        help: 'Messages on the event bus that no worker has written to the store yet, and those that could not be written',
        labelNames: ['state'] as const,
        registers,
        async collect() {
          // They stay as they were while the bus cannot be asked.
          const backlog = await bus.backlog().catch(() => undefined);
          if (!backlog) return;
          this.set({ state: 'waiting' }, backlog.waiting);
          this.set({ state: 'dead_letter' }, backlog.deadLetters);
        },
      });
      new Gauge({
        name: 'capture_bus_oldest_seconds',
        help: 'Age of the oldest message on the event bus that no worker has written to the store yet',
        registers,
        async collect() {
          const oldest = await bus.oldestWaiting().catch(() => undefined);
          if (oldest !== undefined) this.set(oldest === null ? 0 : (Date.now() - oldest.time.getTime()) / 1000);
        },
      });
      new Gauge({
        name: 'capture_bus_connected',
        help: 'Whether this process has a connection to the event bus',
        registers,
        collect() {
          this.set(bus.isConnected() ? 1 : 0);
        },
      });
      return { ...bus, publish: watchPublish(bus.publish) };
    },

    watchApp(app) {
      app.addHook('onResponse', (request, reply, done) => {
        const { method, routeOptions } = request;
        const labels = { method, route: nameOf(routeOptions.url), status: String(reply.statusCode) };
        requests.observe(METHODS.has(method) ? labels : { ...labels, method: 'other' }, reply.elapsedTime / 1000);
        done();
      });
    },

    async read() {
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS']);

/** The pattern of the address: there are as many as routes. Files of the dashboard count together. */
function nameOf(url: string | undefined): string {
  if (url === undefined) return 'unknown';
  return url.startsWith('/assets/') ? '/assets/' : url;
}
