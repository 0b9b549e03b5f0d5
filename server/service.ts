import { randomBytes } from 'node:crypto';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { AuditHeads, AuditKey } from './audit/heads.ts';
import { Background } from './background.ts';
import type { Bus } from './bus/bus.ts';
import { JetStreamJournal } from './bus/jetstream-journal.ts';
import { type Config, retentionBounds } from './config.ts';
import { DamagedSessions } from './damaged-sessions.ts';
import type { Deps } from './deps.ts';
import { openDerivedData } from './derive/derived-data.ts';
import { MaskThread } from './erase/mask/mask-thread.ts';
import { Masking } from './erase/mask/masking.ts';
import { Countersigner } from './evidence/countersigner.ts';
import { createApp } from './http/app.ts';
import { createAuthenticator } from './http/auth.ts';
import { createBudget } from './http/budget.ts';
import { createLastUses } from './http/last-uses.ts';
import { serveSite } from './http/site.ts';
import type { Identity } from './identity/identity.ts';
import { changeOf, createChangeFeed } from './ingest/change-feed.ts';
import { StorageQuotas, storageLimits } from './ingest/quotas.ts';
import { createBodyScanner } from './ingest/reading.ts';
import { createRevocation } from './ingest/revocation.ts';
import { type Committed, SessionLog } from './ingest/session-log.ts';
import { SessionViews } from './ingest/session-views.ts';
import { ShareCounts } from './ingest/share-counts.ts';
import { WritePermission } from './ingest/write-permission.ts';
import { Jobs } from './jobs.ts';
import type { Limits } from './limits.ts';
import { createLongReads } from './long-reads.ts';
import { collectGarbage, IdleMemory } from './memory.ts';
import type { Observer } from './operations/metrics.ts';
import { createRounds, type RoundName, type Rounds } from './rounds.ts';
import { createHandlers } from './routes/all.ts';
import type { Store } from './store/open.ts';
import { rememberSetting } from './store/settings.ts';
import { LogTruncation } from './store/sqlite/log-truncation.ts';
import type { TrustedClock } from './trusted-clock.ts';
import { flushableOf } from './write-behind.ts';

export interface ServiceOptions {
  config: Config;
  store: Store;
  /** The event bus, if appends are numbered there. */
  bus?: Bus | undefined;
  identity: Identity;
  auditKey: AuditKey;
  /** Receives the signed heads; absent: nobody does. */
  auditHeads?: AuditHeads | undefined;
  publicUrl: string;
  log: FastifyBaseLogger;
  /** The limits that the identity provider uses too. */
  limits: Limits;
  observer?: Observer | undefined;
  /** Called with the reason when the worker of this process has stopped for good. */
  onWorkerStopped?: ((reason: string) => void) | undefined;
  /** Decides whether data may be deleted because of its age. */
  clock: TrustedClock;
  now?: () => number;
}

export interface Service {
  /** Ready to listen. */
  app: FastifyInstance;
  rounds: Rounds<RoundName>;
}

const ROW_SECURITY_OFF =
  'row-level security is not in force, so only the queries separate organizations; see docs/postgresql.md for the role that the service needs';

/** Creates the service around an open store and an identity provider, ready to listen. Closing the service leaves both open. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const {
    config,
    store,
    bus,
    identity,
    auditKey,
    auditHeads,
    publicUrl,
    log,
    limits,
    observer,
    clock,
    now = Date.now,
  } = options;
  const { db } = store;
  if (store.hasRowSecurity === false) log.warn(ROW_SECURITY_OFF);

  // Failures
  const damaged = new DamagedSessions({ log, now });
  const isDamaged = (sessionId: string) => damaged.isSkipped(sessionId);
  const noteDamage = (error: unknown) => void damaged.note(error);
  const onError = (error: unknown) => damaged.report(error);

  // Callers
  const pepper = config.SECRET_PEPPER ?? (await rememberSetting(db, 'pepper', () => randomBytes(32).toString('hex')));
  const lastUses = createLastUses(db, now);
  const authenticator = createAuthenticator({ db, identity, pepper, limits, lastUses, bus, now, onError });

  // Work in the background
  const createQueue = (atOnce: number) =>
    new Background({ atOnce, onError, onGivenUp: () => observer?.onGivenUp('background') });
  const queues = {
    background: createQueue(2),
    purging: createQueue(1),
    jobs: createQueue(2),
    countersigning: createQueue(2),
  };
  const idleMemory = new IdleMemory(() => {
    store.rest?.().catch(onError);
    collectGarbage();
  });
  const truncation = store.engine === 'sqlite' ? new LogTruncation(db, onError) : undefined;
  const changes = createChangeFeed({ store, now, log, onError });

  // Derived data
  const derived = await openDerivedData({
    store,
    pricesFile: config.PRICES_FILE,
    now,
    onError,
    isDamaged,
    onGivenUp: () => observer?.onGivenUp('derive'),
    onDerived(session) {
      observer?.onDerived(now() - session.updated_at);
      idleMemory.note();
      changes.publish(changeOf(session));
    },
  });
  const countersigner = new Countersigner({
    db,
    key: auditKey,
    thread: derived.thread,
    background: queues.countersigning,
    isDamaged,
    now,
  });

  // The log of sessions
  const committed: Committed = (change) => {
    changes.publish(change);
    if (change.status === 'deleted') startRound('purge');
    else {
      derived.indexer.note(change);
      if (change.status !== 'active') void countersigner.signSoon(change);
    }
  };
  const onBus = bus && store.pool && new JetStreamJournal({ bus, db, pool: store.pool, onError });
  const journal = onBus ?? store.journal;
  const quotas = new StorageQuotas({ db, limits: storageLimits(config), now, onError });
  const sessionLog = new SessionLog({ db, journal, bus: onBus, committed, onAppend: observer?.onAppend, quotas, now });
  const reading = createBodyScanner(() => observer?.onGivenUp('body'));
  const revocation = createRevocation({ db, sessionLog, background: queues.background });

  // Masks
  const jobs = new Jobs({ db, background: queues.jobs, now, onError });
  const maskThread = new MaskThread();
  const masking = new Masking({
    db,
    jobs,
    thread: maskThread,
    bus: onBus,
    pepper,
    now,
    onWaits: (reason) => log.warn(reason),
    noteDamage,
    async onMasked(session) {
      truncation?.request();
      await derived.indexer.reach([{ session }]);
      // The sums by repository and by tool contain content of the session.
      void derived.daySums.catchUp();
      changes.publish(changeOf(session));
    },
  });

  // Counters, and the work that repeats
  const sessionViews = new SessionViews({ db, now, onSettled: observer?.onSessionViews });
  const shareCounts = new ShareCounts(db, now);
  const counters = flushableOf([quotas, sessionViews, shareCounts, lastUses]);
  const bounds = retentionBounds(config);
  const rounds = createRounds({
    store,
    onBus,
    clock,
    now,
    background: queues.background,
    purging: queues.purging,
    onRemoved: () => truncation?.request(),
    revocation,
    jobs,
    countersigner,
    retentionBounds: bounds,
    onContentGone: (session) => void changes.publishAudience(session).catch(onError),
    derived,
    quotas,
    sessionLog,
    auditHeads,
    counters,
  });
  const startRound = (name: RoundName) => void rounds.run(name);
  const worker =
    bus && store.pool && config.ROLE !== 'api'
      ? new (await import('./bus/worker.ts')).Worker({
          bus,
          pool: store.pool,
          committed,
          clock,
          onWritten: observer?.onWritten,
          onError,
          onStopped: options.onWorkerStopped,
        })
      : undefined;
  observer?.watchService({
    behind: () => derived.indexer.waiting(),
    doubted: () => Number(clock.isDoubted),
    damaged: () => damaged.count,
    quotas: () => quotas.shares(),
  });

  // Answers
  const deps: Deps = {
    store,
    longReads: createLongReads(store, now),
    identity,
    auditKey,
    secretsRevoked: authenticator.revokeSecrets,
    startRound,
    changes,
    lastUses,
    sessionViews,
    shareCounts,
    retentionBounds: bounds,
    doesRetentionWait: () => clock.isDoubted,
    sessionLog,
    writePermission: new WritePermission(db, now),
    masking,
    countersigner,
    storageOf: (organizationId) => quotas.usageOf(organizationId),
    revocation,
    noteDamage,
    derived,
    reading,
    publicUrl,
    pepper,
    now,
  };
  const app = await createApp({
    handlers: createHandlers(deps),
    authenticator,
    limits,
    budget: createBudget(config.BODY_MEMORY_MB * 1024 * 1024),
    now,
    log,
    publicUrl,
    corsOrigins: config.CORS_ORIGINS,
    trustProxy: config.TRUST_PROXY,
  });
  app.addHook('onError', async (_request, _reply, error) => noteDamage(error));
  app.addHook('onResponse', async () => idleMemory.note());
  await serveSite(app, { config, identity, limits, publicUrl, now });

  // Closing
  // A live stream never ends by itself, and closing waits for every answer.
  app.addHook('preClose', async () => changes.live.close());
  app.addHook('onClose', async () => {
    rounds.stop();
    idleMemory.close();
    authenticator.close();
    await worker?.close();
    await changes.close();
    await Promise.all(Object.values(queues).map((queue) => queue.close()));
    await counters.flush().catch(onError);
    await auditHeads?.sign().catch(onError);
    await truncation?.close();
    await reading.close();
    await maskThread.close();
    await derived.close();
  });
  truncation?.request();
  rounds.start();
  return { app, rounds };
}
