import type { RetentionBounds } from '../contract/retention.ts';
import type { Storage } from '../contract/storage.ts';
import type { AuditKey } from './audit/heads.ts';
import type { DerivedData } from './derive/derived-data.ts';
import type { Masking } from './erase/mask/masking.ts';
import type { Countersigner } from './evidence/countersigner.ts';
import type { Identity } from './identity/identity.ts';
import type { ChangeFeed } from './ingest/change-feed.ts';
import type { Reading } from './ingest/reading.ts';
import type { Revocation } from './ingest/revocation.ts';
import type { SessionLog } from './ingest/session-log.ts';
import type { SessionViews } from './ingest/session-views.ts';
import type { ShareCounts } from './ingest/share-counts.ts';
import type { WritePermission } from './ingest/write-permission.ts';
import type { LongReads } from './long-reads.ts';
import type { RoundName } from './rounds.ts';
import type { Store } from './store/open.ts';
import type { Flushable } from './write-behind.ts';

/** The dependencies of the handlers. */
export interface Deps {
  store: Store;
  longReads: LongReads;
  identity: Identity;
  /** Signs the heads of audit logs. */
  auditKey: AuditKey;
  /** Countersigns what the service has of sessions. */
  countersigner: Countersigner;
  /** Makes every replica refuse these secrets. */
  secretsRevoked: (secretIds: readonly string[]) => Promise<void>;
  /** Runs a round in the background, before its time has come. */
  startRound: (name: RoundName) => void;
  /** Tells the watchers on every replica of changes. */
  changes: ChangeFeed;
  /** Remembers when secrets and directory tokens were last used. */
  lastUses: Flushable;
  /** Records who looks at sessions. */
  sessionViews: SessionViews;
  /** Counts how often shares are opened. */
  shareCounts: ShareCounts;
  /** The bounds that the operator sets for the policies. */
  retentionBounds: RetentionBounds;
  /** Whether nothing is removed because of its age, because the clock is doubted. */
  doesRetentionWait: () => boolean;
  sessionLog: SessionLog;
  writePermission: WritePermission;
  /** Masks texts in stored sessions. */
  masking: Masking;
  /** An organization's usage of its quotas. */
  storageOf: (organizationId: string) => Promise<Storage>;
  revocation: Revocation;
  /** Notes and logs that a session was skipped because its events are damaged. */
  noteDamage: (error: unknown) => void;
  derived: DerivedData;
  reading: Reading;
  /** Public address of the service. */
  publicUrl: string;
  pepper: string;
  /** Milliseconds since the epoch. */
  now: () => number;
}
