import { PRIMARY_KEYS } from './schema.gen.ts';
import type { Database } from './schema.ts';

/** Who owns the rows of a table. */
type Owner =
  /** Each row belongs to an organization and is removed with it. Only requests of that organization can read it. */
  | 'organization'
  /** Each row counts the usage of an organization and is removed with it. Only the service reads it. */
  | 'quota'
  /** The rows belong to no organization. */
  | 'service';

/** What a table has of single sessions. */
interface OfSession {
  /**
   * Which members may read the rows (`migrations/viewer-security.ts`). `content`: who may read the content of the session. `facts`:
   * who may know that the session exists. `mixed`: the table has a rule of its own. `counts`: sums show them to everybody.
   */
  tells: 'content' | 'facts' | 'mixed' | 'counts';
  /**
   * How a deletion removes the rows. `after`: as soon as the session is gone, because nobody can add rows from then on. `apart`: in
   * a step of its own (`erase/purge.ts`), for instance because a receipt counts them.
   */
  removed: 'after' | 'apart';
}

type Table =
  | { of: Owner; session?: OfSession }
  /**
   * The service can derive the rows again, so they are not moved. They are removed with their session, and the sums of days with
   * the organization.
   */
  | { of: 'organization'; isDerived: true; session?: OfSession & { removed: 'apart' } };

/** A table with the column of a session must say what it has of sessions. A row without a session concerns several of them. */
type Tables = {
  [Name in keyof Database]: Database[Name] extends { session_id: string | null }
    ? Table & { session: OfSession }
    : Table & { session?: never };
};

/**
 * All tables. A table comes after the tables that it refers to. The facts come first among the derived tables.
 */
const TABLES = {
  settings: { of: 'service' },
  users: { of: 'service' },
  organizations: { of: 'organization' },
  // The audit log comes this early because it is removed last: an organization keeps it while the rest is removed.
  audit_heads: { of: 'organization' },
  audit_entries: { of: 'organization' },
  members: { of: 'organization' },
  policies: { of: 'organization' },
  person_deletions: { of: 'organization' },
  directory_tokens: { of: 'organization' },
  directory_users: { of: 'organization' },
  secrets: { of: 'organization' },
  device_sign_ins: { of: 'organization' },
  environments: { of: 'organization' },
  installations: { of: 'organization' },
  views: { of: 'organization' },
  holds: { of: 'organization' },
  sessions: { of: 'organization', session: { tells: 'mixed', removed: 'apart' } },
  removals: { of: 'organization', session: { tells: 'mixed', removed: 'apart' } },
  appends: {
    of: 'organization',
    session: { tells: 'content', removed: 'apart' },
  },
  session_views: {
    of: 'organization',
    session: { tells: 'mixed', removed: 'after' },
  },
  masks: { of: 'organization', session: { tells: 'mixed', removed: 'after' } },
  session_salts: { of: 'organization', session: { tells: 'content', removed: 'after' } },
  event_masks: { of: 'organization', session: { tells: 'content', removed: 'after' } },
  jobs: { of: 'organization' },
  session_chains: { of: 'organization', session: { tells: 'content', removed: 'after' } },
  shares: { of: 'organization', session: { tells: 'mixed', removed: 'after' } },
  stored_bytes: { of: 'quota', session: { tells: 'counts', removed: 'after' } },
  stored_days: { of: 'quota' },
  session_facts: { of: 'organization', isDerived: true, session: { tells: 'facts', removed: 'apart' } },
  session_values: { of: 'organization', isDerived: true, session: { tells: 'mixed', removed: 'apart' } },
  session_chunks: { of: 'organization', isDerived: true, session: { tells: 'content', removed: 'apart' } },
  session_days: { of: 'organization', isDerived: true, session: { tells: 'counts', removed: 'apart' } },
  summed_days: { of: 'organization', isDerived: true },
  usage_days: { of: 'organization', isDerived: true },
  accounts: { of: 'service' },
  links: { of: 'service' },
  provider_records: { of: 'service' },
} satisfies Tables;

type Listed = typeof TABLES;
type With<Property> = { [Name in keyof Listed]: Listed[Name] extends Property ? Name : never }[keyof Listed];
type Derived = With<{ isDerived: true }>;
export type MovedTable = Exclude<keyof Listed, Derived>;
export type SessionTable = With<{ session: OfSession }>;
/** Tables of sessions with a rule of their own for who may read them. */
export type MixedTable = With<{ session: { tells: 'mixed' } }>;
type RemovedAfter = With<{ session: { removed: 'after' } }>;

const NAMES = Object.keys(TABLES) as (keyof Listed)[];
const isDerived = (name: keyof Listed): name is Derived => 'isDerived' in TABLES[name];
const isMoved = (name: keyof Listed): name is MovedTable => !isDerived(name);
const isOfSession = (name: keyof Listed): name is SessionTable => 'session' in TABLES[name];

/** The tables with rows of single sessions. */
export const SESSION_TABLES = NAMES.filter(isOfSession);

export const tablesThatTell = (tells: OfSession['tells']): SessionTable[] =>
  SESSION_TABLES.filter((name) => TABLES[name].session.tells === tells);

/** Tables whose rows a deletion removes after the row of their session. */
export const REMOVED_AFTER_SESSION = SESSION_TABLES.filter(
  (name): name is RemovedAfter => TABLES[name].session.removed === 'after',
);

/** The tables that a request can read as the role of its organization. Settings, accounts, links and sign-ins are not among them. */
export const TENANT_TABLES = NAMES.filter((name) => TABLES[name].of === 'organization');

/** Tables whose rows the service can derive again. */
export const DERIVED = NAMES.filter(isDerived);

/** Tables whose rows cannot be derived again, so they are moved to another engine. */
export const MOVED = NAMES.filter(isMoved);

const OTHERWISE_REMOVED = new Set<keyof Listed>(['sessions', 'appends', 'organizations']);
/** Tables whose rows are removed after the sessions of an organization and before its own row, in this order. */
export const REMOVED = MOVED.filter((name) => TABLES[name].of !== 'service' && !OTHERWISE_REMOVED.has(name)).reverse();

/** The columns of the table's primary key. */
export const keyOf = (table: keyof typeof PRIMARY_KEYS): readonly string[] => PRIMARY_KEYS[table];
