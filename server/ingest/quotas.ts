import { Problem } from '../../contract/problem.ts';
import type { Storage } from '../../contract/storage.ts';
import type { Config } from '../config.ts';
import { Recent } from '../recent.ts';
import { findKeyedAppend } from '../store/log-state.ts';
import type { Db } from '../store/schema.ts';
import { type Added, addStored, purgeStoredDays, readSent, readStored, type Stored } from '../store/stored-bytes.ts';
import { asService } from '../store/tenant.ts';
import { type Flushable, WriteBehind } from '../write-behind.ts';

/** The highest amount of each; 0: no limit. */
export interface StorageLimits {
  bytesADay: number;
  bytes: number;
}

/** The limits that the operator sets. */
export const storageLimits = ({ QUOTA_DAY_MB: aDay, QUOTA_GB: all }: Config): StorageLimits => ({
  bytesADay: aDay * 1_000_000,
  bytes: all * 1_000_000_000,
});

export type StorageQuota = 'bytes_today' | 'bytes';

export interface StorageQuotasOptions {
  db: Db;
  limits: StorageLimits;
  now: () => number;
  onError: (error: unknown) => void;
}

/** How long a count from the store is used, together with the additions of this process. */
const VALID_MS = 10 * 60_000;
/** How long it is used once a quota is reached. It is shorter because sessions may have been deleted meanwhile. */
const FULL_VALID_MS = 30_000;
/** Pause between two queries, whether or not they succeed. */
const READ_EVERY_MS = 5_000;
/** How many sessions one transaction counts. After a long outage more sessions wait than one statement has parameters. */
const WRITTEN_AT_ONCE = 1_000;
const DAY_MS = 86_400_000;
/** The most organizations whose usage is remembered. */
const MAX_ORGANIZATIONS = 10_000;
/** Growth is computed from this many days; for a younger organization from its age, but from at least a week. */
const GROWTH_DAYS = 28;
const MIN_GROWTH_DAYS = 7;

/** An append that has not been stored yet. */
interface Arriving {
  organizationId: string;
  sessionId: string;
  idempotencyKey: string | null;
}

interface Count {
  readAt: number;
  day: string;
  /** The stored usage at the last query, plus the additions of this process since then. */
  stored: Stored;
}

/**
 * Limits how much organizations may store. Usage is counted in memory and written every few seconds, so an append needs no
 * further write. Each process reads the additions of the others every ten minutes, so a quota may be exceeded by that much.
 */
export class StorageQuotas implements Flushable {
  readonly #options: StorageQuotasOptions;
  readonly #counts: Recent<Count>;
  /** The organizations whose usage was just read from the store. */
  readonly #read: Recent<true>;
  readonly #added: WriteBehind<Added>;

  constructor(options: StorageQuotasOptions) {
    this.#options = options;
    this.#counts = new Recent({ max: MAX_ORGANIZATIONS, now: options.now });
    this.#read = new Recent({ max: MAX_ORGANIZATIONS, now: options.now });
    this.#added = new WriteBehind({
      keyOf: ({ sessionId }) => sessionId,
      merge: (one, other) => ({ ...one, bytes: one.bytes + other.bytes }),
      write: (added) => addStored(options.db, added, this.#today()),
      atOnce: WRITTEN_AT_ONCE,
    });
  }

  /** @throws Problem `quota_reached` */
  async assertRoom({ organizationId, sessionId, idempotencyKey }: Arriving): Promise<void> {
    const refusal = this.#refusalOfBytes(organizationId);
    // A repeated append gets its earlier answer, although the quota is reached.
    if (refusal && !(idempotencyKey !== null && (await this.#isKnown(organizationId, sessionId, idempotencyKey)))) {
      throw refusal;
    }
  }

  /** Counts the bytes of a stored append. */
  add(added: Added): void {
    this.#added.add(added);
    const stored = this.#counts.get(added.organizationId)?.stored;
    if (!stored) return;
    stored.bytes += added.bytes;
    stored.bytesToday += added.bytes;
  }

  flush(): Promise<void> {
    return this.#added.flush();
  }

  /** The organization's usage and limits. */
  async usageOf(organizationId: string): Promise<Storage> {
    const { db, limits, now } = this.#options;
    const since = dayOf(now() - (GROWTH_DAYS - 1) * DAY_MS);
    await this.flush();
    // The tables with the counts belong to the service, not to an organization.
    const [stored, sent] = await asService(() =>
      Promise.all([readStored(db, organizationId, this.#today()), readSent(db, organizationId, since)]),
    );
    const age = sent.first === null ? 0 : (Date.parse(this.#today()) - Date.parse(sent.first)) / DAY_MS + 1;
    const bytesADay = sent.bytes / Math.max(age, MIN_GROWTH_DAYS);
    return {
      ...stored,
      bytesAWeek: Math.round(bytesADay * 7),
      ...(limits.bytes > 0 && { quotaBytes: limits.bytes }),
      ...(limits.bytesADay > 0 && { quotaBytesADay: limits.bytesADay }),
      ...(limits.bytes > 0 &&
        bytesADay > 0 && { fullInDays: Math.max(0, Math.floor((limits.bytes - stored.bytes) / bytesADay)) }),
    };
  }

  /** Deletes the days that growth no longer needs. */
  async purge(at: number): Promise<void> {
    await purgeStoredDays(this.#options.db, dayOf(at - GROWTH_DAYS * DAY_MS));
  }

  /** The largest used share of each quota over the organizations that sent events to this process within a day. */
  shares(): Record<StorageQuota, number> {
    const { limits } = this.#options;
    const share = (limit: number, of: (stored: Stored) => number) =>
      limit === 0 ? 0 : Math.max(0, ...this.#counts.values().map(({ stored }) => of(stored) / limit));
    return {
      bytes_today: share(limits.bytesADay, ({ bytesToday }) => bytesToday),
      bytes: share(limits.bytes, ({ bytes }) => bytes),
    };
  }

  #refusalOfBytes(organizationId: string): Problem | undefined {
    const { bytesADay, bytes } = this.#options.limits;
    if (bytesADay === 0 && bytes === 0) return undefined;
    const stored = this.#countOf(organizationId);
    if (!stored) return undefined;
    if (bytesADay > 0 && stored.bytesToday >= bytesADay) {
      return new Problem(
        'quota_reached',
        'This organization has reached its quota of bytes for today. Try again after midnight (UTC), or ask the operator to raise QUOTA_DAY_MB.',
      );
    }
    if (bytes === 0 || stored.bytes < bytes) return undefined;
    return new Problem(
      'quota_reached',
      'This organization has reached its quota of bytes of events. Delete sessions, or ask the operator to raise QUOTA_GB.',
    );
  }

  /** Undefined until the first query. No append waits for that query. */
  #countOf(organizationId: string): Stored | undefined {
    const known = this.#counts.get(organizationId);
    const validMs = known && this.#isFull(known.stored) ? FULL_VALID_MS : VALID_MS;
    const isCurrent = known && known.day === this.#today() && this.#options.now() - known.readAt < validMs;
    if (!isCurrent && !this.#read.get(organizationId)) void this.#readAgain(organizationId);
    return known && known.day !== this.#today() ? { ...known.stored, bytesToday: 0 } : known?.stored;
  }

  #isFull({ bytes }: Stored): boolean {
    const { limits } = this.#options;
    return limits.bytes > 0 && bytes >= limits.bytes;
  }

  async #readAgain(organizationId: string): Promise<void> {
    const { db, now, onError } = this.#options;
    this.#read.set(organizationId, true, READ_EVERY_MS);
    try {
      await this.flush();
      const day = this.#today();
      const stored = await asService(() => readStored(db, organizationId, day));
      this.#counts.set(organizationId, { readAt: now(), day, stored }, DAY_MS);
    } catch (error) {
      onError(error);
    }
  }

  #isKnown = async (organizationId: string, sessionId: string, key: string): Promise<boolean> =>
    (await findKeyedAppend(this.#options.db, organizationId, sessionId, key)) !== undefined;

  #today = (): string => dayOf(this.#options.now());
}

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
