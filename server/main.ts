import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { ONBOARDING, onboarding } from '../contract/onboarding.ts';
import { AuditHeads, auditHeadsFile, readAuditKey } from './audit/heads.ts';
import { ScheduledBackups } from './backup/scheduled.ts';
import type { Bus } from './bus/bus.ts';
import type { ConnectOptions } from './bus/connect.ts';
import { agreeOnNumbering } from './bus/numbering.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { assertFolderIsNew, assertStoreIsNew } from './first-start.ts';
import { createIdentity } from './identity/create.ts';
import { createLimits } from './limits.ts';
import { toText } from './log-text.ts';
import { createLogger, LogOutput } from './logger.ts';
import type { Metrics } from './operations/metrics.ts';
import { createOperations } from './operations/operations.ts';
import { freePort, publicUrlOf } from './public-url.ts';
import { createService } from './service.ts';
import { closeAll, createFatal } from './shutdown.ts';
import { openStore, type Store } from './store/open.ts';
import { TrustedClock } from './trusted-clock.ts';
import { openWhenReachable } from './wait-for-store.ts';

const write = (line: string) => void process.stdout.write(`${line}\n`);

/** npm forwards a terminal's signal, so the signal arrives twice. */
const REPEATED_SIGNAL_MS = 250;

/** How long the service waits for a slow reader of its log when it ends. */
const LAST_LINES_MS = 500;

const FULL =
  'the disk of DATA_DIR is full: events are refused until there is room. Sessions can be read and deleted with the reserve that was freed';
const ROOMY = 'the disk of DATA_DIR has room again: events are accepted';

/** Runs the named command, or serves. */
async function start(words: readonly string[]): Promise<void> {
  if (words.length === 0) return serve();
  const { runCommand } = await import('./commands.ts');
  await runCommand(words, () => readConfig(process.env), write);
}

/** Opens config → store → identity → service → listen, and closes them in reverse order. */
async function serve(): Promise<void> {
  const config = readConfig(process.env);
  const output = new LogOutput(process.stdout, process.stdout.isTTY ? toText : undefined);
  const log = createLogger(config.LOG_LEVEL, output);
  const metrics = config.OPERATIONS_PORT === undefined ? undefined : await openMetrics();
  let stopped: string | undefined;
  let needed: Pick<Store, 'ping'> | undefined;
  let closingSince: number | undefined;
  const whyNotReady = () => (closingSince !== undefined ? 'closing' : needed ? stopped : 'starting');
  const operations = metrics && createOperations({ metrics, ping: async () => needed?.ping(), whyNotReady });
  if (operations) await once(operations.listen(config.OPERATIONS_PORT, config.HOST), 'listening');
  const port = config.PORT === 0 ? await freePort(config.HOST) : config.PORT;
  assertFolderIsNew(config);
  const open = () =>
    openStore({
      databaseUrl: config.DATABASE_URL,
      listenUrl: config.DATABASE_LISTEN_URL,
      dataDir: config.DATA_DIR,
      space: { onChange: (isFull) => (isFull ? log.error(FULL) : log.info(ROOMY)) },
      onError: (error: Error) => log.warn({ err: error }, 'an idle connection to the store was lost'),
      onLost: createFatal({ log, write: (text) => process.stderr.write(text), exit: (code) => process.exit(code) }),
    });
  const address = config.ROLE === 'worker' ? undefined : { host: config.HOST, port };
  const store = config.DATABASE_URL === undefined ? await open() : await openWhenReachable(open, { address, log });
  metrics?.watchStore(store);
  await assertStoreIsNew(store.db, config);
  const { BUS_URL: busUrl } = config;
  await agreeOnNumbering(store.db, busUrl);
  const bus = busUrl === undefined ? undefined : await openBus({ url: busUrl, db: store.db, log });
  if (bus) metrics?.watchBus(bus);
  const publicUrl = publicUrlOf(config, port);
  const auditKey = readAuditKey(config);
  const auditHeads = new AuditHeads({
    db: store.db,
    key: auditKey,
    file: auditHeadsFile(config),
    onSigned: (head) => log.info({ head }, 'signed the head of an audit log'),
    now: Date.now,
  });
  const backups = config.BACKUP_DIR === undefined ? undefined : scheduleBackups(config.BACKUP_DIR, config, log);
  if (backups) metrics?.watchBackups(backups);
  const limits = createLimits(config, store);
  const clock = new TrustedClock({ db: store.db, now: Date.now, log });
  const identity = await createIdentity({ config, store, publicUrl, limits, log, clock });
  const { app } = await createService({
    config,
    store,
    bus,
    identity,
    auditKey,
    auditHeads,
    publicUrl,
    limits,
    log,
    clock,
    observer: metrics,
    onWorkerStopped(reason) {
      stopped = reason;
    },
  });
  metrics?.watchApp(app);
  const close = async (signal: NodeJS.Signals) => {
    if (closingSince !== undefined) {
      if (Date.now() - closingSince > REPEATED_SIGNAL_MS) process.exit(128 + constants.signals[signal]);
      return;
    }
    closingSince = Date.now();
    log.info({ signal }, 'closing; a second signal ends the service at once');
    await pause(config.DRAIN_SECONDS * 1000);
    const code = await closeAll({ app, below: [backups ?? {}, identity, bus ?? {}, store], log });
    operations?.close();
    log.info({ code }, 'closed');
    await output.flush(LAST_LINES_MS);
    process.exit(code);
  };
  backups?.start();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void close(signal));

  const begin = async () => {
    if (config.ROLE === 'worker') {
      await app.ready();
      needed = store;
      process.stdout.write('Session Capture is ready to write the events of the event bus\n');
      return;
    }
    await app.listen({ port, host: config.HOST });
    // With a bus, the service accepts requests while the store is away.
    needed = bus ?? store;
    process.stdout.write(`Session Capture is ready at ${publicUrl}\n`);
    for (const line of (await identity.greeting?.()) ?? []) process.stdout.write(`${line}\n`);
    process.stdout.write(`\nTo capture on a machine, run this on it. ${ONBOARDING.replace('. ', '.\n')}\n\n`);
    const lines = onboarding(publicUrl);
    const width = Math.max(56, ...lines.map(({ command }) => command.length + 4));
    for (const { systems, command } of lines) {
      process.stdout.write(`    ${command.padEnd(width)}${systems.join(', ')}\n`);
    }
  };
  // A signal during the start closes the store, so the rest of the start fails. That is no failure to start.
  await begin().catch((error: unknown) => {
    if (closingSince === undefined) throw error;
  });
}

function scheduleBackups(folder: string, config: Config, log: ReturnType<typeof createLogger>): ScheduledBackups {
  return new ScheduledBackups({
    folder,
    everyMs: config.BACKUP_EVERY_HOURS * 3_600_000,
    keep: config.BACKUP_KEEP,
    program: process.argv[1] ?? '',
    variables: process.env,
    onDone: ({ file, bytes }) => log.info({ file, bytes }, 'backed up the store'),
    onError: (error) =>
      log.error(
        { err: error },
        'a backup failed; it is tried again in ten minutes, and later after each further failure',
      ),
    now: Date.now,
  });
}

/** The metrics library takes memory, so it is loaded only if somebody may ask for metrics. */
async function openMetrics(): Promise<Metrics> {
  const { createMetrics } = await import('./operations/metrics.ts');
  return createMetrics();
}

/** The bus client takes memory, so it is loaded only if there is a bus. */
async function openBus(options: ConnectOptions): Promise<Bus> {
  const { connectBus } = await import('./bus/connect.ts');
  return connectBus(options);
}

const reasonOf = ({ code, message, ...rest }: NodeJS.ErrnoException & { port?: number }): string =>
  code === 'EADDRINUSE'
    ? `port ${rest.port} is in use by another program. End that, or set PORT to another port.`
    : message;

const words = process.argv.slice(2);
start(words).catch((error: unknown) => {
  const message = reasonOf(error as NodeJS.ErrnoException);
  const reason = error instanceof ConfigError || words.length > 0 ? message : `The service could not start: ${message}`;
  process.stderr.write(`${reason}\n`);
  if (!(error instanceof ConfigError) && process.env.LOG_LEVEL === 'debug') console.error(error);
  process.exit(1);
});
