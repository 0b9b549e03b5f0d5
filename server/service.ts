import { randomBytes } from 'node:crypto';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { AuditHeads, AuditKey } from './audit/heads.ts';
import { Background } from './background.ts';
import type { Bus } from './bus/bus.ts';
import { JetStreamJournal } from './bus/jetstream-journal.ts';
import { type Config, retentionBounds } from './config.ts';
import { DamagedSessions } from './damaged-sessions.ts';
import type { Deps } from './deps.ts';
import { DaySums } from './derive/day-sums.ts';
import { createDeriveThread } from './derive/derive-thread.ts';
import { Indexer } from './derive/indexer.ts';
import { readPriceList } from './derive/prices/price-list.ts';
import { withoutContentIn } from './derive/review.ts';
import { readVersion } from './derive/version.ts';
import { MaskThread } from './erase/mask/mask-thread.ts';
import { Masking } from './erase/mask/masking.ts';
import { Countersigner } from './evidence/countersigner.ts';
import { createApp } from './http/app.ts';
import { createAuthenticator } from './http/auth.ts';
import { createBudget } from './http/budget.ts';
import { serveDownloads } from './http/downloads.ts';
import { createLastUses } from './http/last-uses.ts';
import { serveOpenapiDocument } from './http/openapi-document.ts';
import { servePages } from './http/pages.ts';
import { serveSecurityTxt } from './http/security-txt.ts';
import type { Identity } from './identity/identity.ts';
import { changeOf, createChangeFeed } from './ingest/change-feed.ts';
import { StorageQuotas } from './ingest/quotas.ts';
import { createBodyScanner } from './ingest/reading.ts';
import { createRevocation } from './ingest/revocation.ts';
import { type Committed, SessionLog } from './ingest/session-log.ts';
import { SessionViews } from './ingest/session-views.ts';
import { ShareCounts } from './ingest/share-counts.ts';
import { WritePermission } from './ingest/write-permission.ts';
import { Jobs } from './jobs.ts';
import { createLimits, type Limits } from './limits.ts';
import { createLongReads } from './long-reads.ts';
import { collectGarbage, IdleMemory } from './memory.ts';
import type { Observer } from './operations/metrics.ts';
import { createRounds, type RoundName, type Rounds } from './rounds.ts';
import { createHandlers } from './routes/all.ts';
import type { Store } from './store/open.ts';
import type { SessionRow } from './store/schema.ts';
import { rememberSetting } from './store/settings.ts';
import { LogTruncation } from './store/sqlite/log-truncation.ts';
import { TrustedClock } from './trusted-clock.ts';
import { VERSION } from './version.ts';
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
  limits?: Limits;
  observer?: Observer | undefined;
  /** Called with the reason when the worker of this process has stopped for good. */
  onWorkerStopped?: ((reason: string) => void) | undefined;
  /** Decides whether data may be deleted because of its age; absent: a new one. */
  clock?: TrustedClock;
  now?: () => number;
}

export interface Service {
  /** Ready to listen. */
  app: FastifyInstance;
  rounds: Rounds<RoundName>;
}

const ROW_SECURITY_OFF =
  'row-level security is not in force, so only the queries separate organizations; see docs/postgresql.md for the role that the service needs';

const storageLimits = (config: Config) => ({
  bytesADay: config.QUOTA_DAY_MB * 1_000_000,
  bytes: config.QUOTA_GB * 1_000_000_000,
});

/** Creates the service around an open store and an identity provider, ready to listen. Closing the service leaves both open. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const {
    config,
    store,
    bus,
    identity,
    auditHeads,
    publicUrl,
    log,
    observer,
    now = Date.now,
    limits = createLimits(config, store),
    clock = new TrustedClock({ db: store.db, now, log }),
  } = options;
  if (store.hasRowSecurity === false) log.warn(ROW_SECURITY_OFF);
  const damaged = new DamagedSessions({ log, now });
  observer?.onDamaged(() => damaged.count);
  observer?.onDoubtedClock(() => clock.isDoubted);
  const noteDamage = (error: unknown) => void damaged.note(error);
  const isDamaged = (sessionId: string) => damaged.isSkipped(sessionId);
  const onError = (error: unknown) => {
    const all: unknown[] = error instanceof AggregateError ? error.errors : [error];
    for (const err of all) if (!damaged.note(err)) log.error({ err }, 'background work failed');
  };
  const pepper =
    config.SECRET_PEPPER ?? (await rememberSetting(store.db, 'pepper', () => randomBytes(32).toString('hex')));
  const lastUses = createLastUses(store.db);
  const authenticator = createAuthenticator({ db: store.db, identity, pepper, limits, lastUses, now, onError });
  const stopHearing = bus?.subscribeRevocations(authenticator.forgetSecret);
  const changes = createChangeFeed({ store, now, log, onError });
  const prices = readPriceList(config.PRICES_FILE);
  const derivedVersion = await readVersion(store.db, prices.fingerprint);
  const deriveThread = createDeriveThread(config.PRICES_FILE);
  const startJobs = (atOnce: number) =>
    new Background({ atOnce, onError, onGivenUp: () => observer?.onGivenUp('background') });
  const countersigning = startJobs(2);
  const countersigner = new Countersigner({
    db: store.db,
    key: options.auditKey,
    thread: deriveThread,
    background: countersigning,
    isDamaged,
    now,
  });
  const indexer = new Indexer({
    db: store.db,
    thread: deriveThread,
    version: derivedVersion,
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
  const idleMemory = new IdleMemory(() => {
    store.rest?.().catch(onError);
    collectGarbage();
  });
  const daySums = new DaySums(store, onError);
  observer?.onBehind(() => indexer.waiting());
  const reading = createBodyScanner(() => observer?.onGivenUp('body'));
  const background = startJobs(2);
  const sweeping = startJobs(1);
  const truncation = store.engine === 'sqlite' ? new LogTruncation(store.db, onError) : undefined;
  const onBus = bus && store.pool && new JetStreamJournal({ bus, db: store.db, pool: store.pool, onError });
  const committed: Committed = (change) => {
    changes.publish(change);
    if (change.status === 'deleted') void rounds.run('sweep');
    else {
      indexer.note(change);
      if (change.status !== 'active') void countersigner.signSoon(change);
    }
  };
  const jobQueue = startJobs(2);
  const jobs = new Jobs({ db: store.db, background: jobQueue, now, onError });
  const maskThread = new MaskThread();
  const masking = new Masking({
    db: store.db,
    jobs,
    thread: maskThread,
    bus: onBus,
    pepper,
    now,
    onWaits: (reason) => log.warn(reason),
    noteDamage,
    async onMasked(session) {
      truncation?.request();
      await indexer.reach([{ session }]);
      // The sums by repository and by tool contain content of the session.
      void daySums.catchUp();
      changes.publish(changeOf(session));
    },
  });
  const quotas = new StorageQuotas({ db: store.db, limits: storageLimits(config), now, onError });
  observer?.onQuotas(() => quotas.shares());
  const unlimited = new SessionLog({
    db: store.db,
    journal: onBus ?? store.journal,
    bus: onBus,
    committed,
    onAppend: observer?.onAppend,
    now,
  });
  const sessionLog = quotas.guard(unlimited);
  const writePermission = new WritePermission(store.db, now);
  const revocation = createRevocation({
    db: store.db,
    sessionLog,
    later: (name, work) => void background.run(name, work),
    closing: background.signal,
  });
  const bounds = retentionBounds(config);
  const retention = {
    db: store.db,
    sessionLog,
    bounds,
    version: derivedVersion,
    withoutContent: withoutContentIn,
    onContentGone: (row: SessionRow) => void changes.publishAudience(row).catch(onError),
  };
  const sessionViews = new SessionViews({ db: store.db, now, onSettled: observer?.onSessionViews });
  const shareCounts = new ShareCounts(store.db, now);
  const counters = flushableOf([quotas, sessionViews, shareCounts, lastUses]);
  const rounds = createRounds({
    store,
    onBus,
    clock,
    now,
    background,
    sweeping,
    onRemoved: () => truncation?.request(),
    revocation,
    jobs,
    countersigner,
    retention,
    indexer,
    daySums,
    quotas,
    sessionLog,
    auditHeads,
    counters,
  });
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
  const deps: Deps = {
    store,
    longReads: createLongReads(store, now),
    identity,
    auditKey: options.auditKey,
    async secretsRevoked(secretIds) {
      for (const secretId of secretIds) {
        authenticator.forgetSecret(secretId);
        // Replicas that reach the store see the revocation within 4 s. The others hear it on the bus, and accept nothing
        // without the bus.
        await bus?.publishRevocation(secretId);
      }
    },
    removeOrganizations: () => void rounds.run('organizations'),
    signFirstHead: () => void rounds.run('audit heads'),
    deleteSessionsOfRemoved: () => void rounds.run('removed members'),
    changes,
    sessionViews,
    shareCounts,
    retentionBounds: bounds,
    doesRetentionWait: () => clock.isDoubted,
    sessionLog,
    writePermission,
    masking,
    countersigner,
    storageOf: (organizationId) => quotas.usageOf(organizationId),
    revocation,
    noteDamage,
    indexer,
    daySums,
    deriveThread,
    pricesOf: prices.date,
    reading,
    publicUrl,
    pepper,
    version: VERSION,
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
  app.addHook('onError', (_request, _reply, error, done) => {
    damaged.note(error);
    done();
  });
  app.addHook('onResponse', (_request, _reply, done) => {
    idleMemory.note();
    done();
  });
  await identity.mount?.(app);
  await serveDownloads(app, { publicUrl, limits });
  serveOpenapiDocument(app, { publicUrl, limits });
  serveSecurityTxt(app, { contact: config.SECURITY_CONTACT, publicUrl, now });
  await servePages(app, { publicUrl, origins: identity.origins });
  // A live stream never ends by itself, and closing waits for every answer.
  app.addHook('preClose', async () => changes.live.close());
  app.addHook('onClose', async () => {
    rounds.stop();
    idleMemory.close();
    stopHearing?.();
    await worker?.close();
    await changes.close();
    await Promise.all([background, sweeping, jobQueue, countersigning].map((queue) => queue.close()));
    await counters.flush().catch(onError);
    await auditHeads?.sign().catch(onError);
    await truncation?.close();
    await reading.close();
    await maskThread.close();
    // Its jobs wait for the thread.
    await Promise.all([indexer.close(), deriveThread.close(), daySums.close()]);
  });
  truncation?.request();
  rounds.start();
  return { app, rounds };
}
