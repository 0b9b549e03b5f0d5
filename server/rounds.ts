import type { RetentionBounds } from '../contract/retention.ts';
import type { AuditHeads } from './audit/heads.ts';
import { SIGN_EVERY_MS } from './audit/heads.ts';
import type { Background } from './background.ts';
import type { JetStreamJournal } from './bus/jetstream-journal.ts';
import type { DerivedData } from './derive/derived-data.ts';
import { withoutContentIn } from './derive/review.ts';
import { applyRetention } from './erase/apply-retention.ts';
import { purgeOrphans, purgeRemoved } from './erase/purge.ts';
import { deleteSessionsOfRemoved, removeDeletedOrganizations } from './erase/session-groups.ts';
import type { Countersigner } from './evidence/countersigner.ts';
import type { StorageQuotas } from './ingest/quotas.ts';
import type { Revocation } from './ingest/revocation.ts';
import type { SessionLog } from './ingest/session-log.ts';
import type { Jobs } from './jobs.ts';
import { purgeDevices } from './store/devices.ts';
import type { Store } from './store/open.ts';
import type { SessionRow } from './store/schema.ts';
import { purgeUnused } from './store/unused.ts';
import type { TrustedClock } from './trusted-clock.ts';
import type { Flushable } from './write-behind.ts';

/** Work that the service repeats. */
interface Round<Name> {
  name: Name;
  /** It runs when the service starts, and in this interval; absent: only after another round. */
  everyMs?: number;
  /** It also runs whenever this round has ended. */
  after?: Name;
  run: (signal: AbortSignal) => Promise<unknown>;
  /** Runs one job at a time for each name; absent: the work has a queue of its own. */
  queue?: Background;
}

/** Runs each round when the service starts, which continues work that an earlier process left behind, and then in its interval. */
export class Rounds<Name extends string> {
  readonly #rounds: readonly Round<Name>[];
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(rounds: readonly Round<Name>[]) {
    this.#rounds = rounds;
  }

  start(): void {
    for (const { name, everyMs } of this.#rounds) {
      if (everyMs === undefined) continue;
      void this.run(name);
      this.#timers.push(setInterval(() => void this.run(name), everyMs).unref());
    }
  }

  /** Runs the round now, or joins it if it is running, and then the rounds after it. Resolves even if they fail. */
  async run(name: Name): Promise<void> {
    const round = this.#rounds.find((one) => one.name === name);
    if (!round) return;
    const work = async (signal: AbortSignal) => void (await round.run(signal));
    await (round.queue ? round.queue.run(name, work) : work(NEVER));
    await Promise.all(this.#rounds.filter(({ after }) => after === name).map((next) => this.run(next.name)));
  }

  /** Starts no more rounds by itself. */
  stop(): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
  }
}

const NEVER = new AbortController().signal;

export type RoundName =
  | 'purge'
  | 'revocations'
  | 'jobs'
  | 'countersigning'
  | 'retention'
  | 'orphans'
  | 'derive'
  | 'sums'
  | 'unused'
  | 'sign-ins'
  | 'organizations'
  | 'removed members'
  | 'audit heads'
  | 'counters';

export interface RoundsOptions {
  store: Store;
  onBus: JetStreamJournal | undefined;
  clock: TrustedClock;
  now: () => number;
  background: Background;
  /** Purging has its own queue, because the job that removes organizations waits for it. */
  purging: Background;
  /** Called when content was removed from the store. */
  onRemoved: () => void;
  revocation: Pick<Revocation, 'resume'>;
  jobs: Pick<Jobs, 'resume'>;
  countersigner: Pick<Countersigner, 'catchUp'>;
  retentionBounds: RetentionBounds;
  /** Called with each session whose content has expired, as it was before. */
  onContentGone: (session: SessionRow) => void;
  derived: Pick<DerivedData, 'indexer' | 'daySums' | 'version'>;
  quotas: Pick<StorageQuotas, 'purge'>;
  sessionLog: SessionLog;
  auditHeads: AuditHeads | undefined;
  counters: Flushable;
}

const FLUSH_MS = 10_000;
const PURGE_MS = 15_000;
const MINUTE_MS = 60_000;
const CATCH_UP_MS = 300_000;
const HOUR_MS = 3_600_000;

/** The rounds of a service. */
export function createRounds(options: RoundsOptions): Rounds<RoundName> {
  const { background, purging, sessionLog, derived, auditHeads, clock, now, onBus, onRemoved, quotas } = options;
  const { db } = options.store;
  /** Work that deletes because of age, as of one moment. It does nothing while the clock is doubted. */
  const byAge = (work: (at: number, signal: AbortSignal) => Promise<unknown>) => async (signal: AbortSignal) => {
    const at = await clock.time();
    if (at !== undefined) await work(at, signal);
  };
  const removeElsewhere =
    onBus && ((session: Parameters<typeof onBus.removeDeleted>[0]) => onBus.removeDeleted(session));
  const purge = (signal: AbortSignal) => purgeRemoved(db, now, { signal, onRemoved, removeElsewhere });
  const retain = byAge((at, signal) =>
    applyRetention({
      db,
      sessionLog,
      bounds: options.retentionBounds,
      version: derived.version,
      withoutContent: withoutContentIn,
      onContentGone: options.onContentGone,
      now: () => at,
      signal,
    }),
  );
  const removeOrganizations = (signal: AbortSignal) =>
    removeDeletedOrganizations({
      db,
      sessionLog,
      purge: () => rounds.run('purge'),
      onRemoving: async (organizationId) => auditHeads?.end(organizationId),
      signal,
    });
  const purgeOld = byAge(async (at, signal) => {
    await purgeUnused(db, at, signal);
    await quotas.purge(at);
  });
  const deleteOfRemoved = (signal: AbortSignal) => deleteSessionsOfRemoved({ db, sessionLog, signal });
  const rounds: Rounds<RoundName> = new Rounds<RoundName>([
    { name: 'purge', everyMs: PURGE_MS, after: 'retention', run: purge, queue: purging },
    { name: 'revocations', everyMs: MINUTE_MS, run: options.revocation.resume, queue: background },
    { name: 'jobs', everyMs: MINUTE_MS, run: () => options.jobs.resume(), queue: background },
    { name: 'countersigning', everyMs: HOUR_MS, run: () => options.countersigner.catchUp() },
    // A session outlives its retention period by at most this interval.
    { name: 'retention', everyMs: HOUR_MS, run: retain, queue: background },
    { name: 'orphans', after: 'retention', run: (signal) => purgeOrphans(db, signal), queue: background },
    { name: 'derive', everyMs: CATCH_UP_MS, run: () => derived.indexer.catchUp() },
    { name: 'sums', everyMs: MINUTE_MS, run: () => derived.daySums.catchUp() },
    { name: 'unused', everyMs: HOUR_MS, run: purgeOld, queue: background },
    { name: 'sign-ins', everyMs: PURGE_MS, run: byAge((at) => purgeDevices(db, at)), queue: background },
    { name: 'organizations', everyMs: PURGE_MS, run: removeOrganizations, queue: background },
    { name: 'removed members', everyMs: PURGE_MS, run: deleteOfRemoved, queue: background },
    { name: 'audit heads', everyMs: SIGN_EVERY_MS, run: async () => auditHeads?.sign(), queue: background },
    // A crash loses the counts of this interval.
    { name: 'counters', everyMs: FLUSH_MS, run: () => options.counters.flush(), queue: background },
  ]);
  return rounds;
}
