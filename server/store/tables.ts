import type { Database } from './schema.ts';

/** Who owns the rows of a table. */
type Owner =
  /** Each row belongs to an organization and is removed with it. Only requests of that organization can read it. */
  | 'organization'
  /** Each row counts the usage of an organization and is removed with it. Only the service reads it. */
  | 'quota'
  /** The rows belong to no organization. */
  | 'service';

type Table =
  | { of: Owner; key: readonly string[] }
  /**
   * The service can derive the rows again, so they are not moved. They are removed with their session, and the sums of days with
   * the organization.
   */
  | { of: 'organization'; isDerived: true };

/**
 * All tables with their primary keys. A table comes after the tables that it refers to. The facts come first among the derived
 * tables.
 */
const TABLES = {
  settings: { of: 'service', key: ['name'] },
  users: { of: 'service', key: ['user_id'] },
  organizations: { of: 'organization', key: ['organization_id'] },
  // The audit log comes this early because it is removed last: an organization keeps it while the rest is removed.
  audit_heads: { of: 'organization', key: ['organization_id'] },
  audit_entries: { of: 'organization', key: ['organization_id', 'sequence'] },
  members: { of: 'organization', key: ['user_id'] },
  policies: { of: 'organization', key: ['organization_id'] },
  person_deletions: { of: 'organization', key: ['organization_id', 'user_id'] },
  directory_tokens: { of: 'organization', key: ['organization_id'] },
  directory_users: { of: 'organization', key: ['directory_user_id'] },
  secrets: { of: 'organization', key: ['secret_id'] },
  device_sign_ins: { of: 'organization', key: ['device_hash'] },
  environments: { of: 'organization', key: ['environment_id'] },
  installations: { of: 'organization', key: ['installation_id'] },
  views: { of: 'organization', key: ['view_id'] },
  holds: { of: 'organization', key: ['hold_id'] },
  sessions: { of: 'organization', key: ['session_id'] },
  deleted_sessions: { of: 'organization', key: ['session_id'] },
  expired_contents: { of: 'organization', key: ['session_id'] },
  appends: { of: 'organization', key: ['session_id', 'first_sequence'] },
  session_views: { of: 'organization', key: ['session_id', 'kind', 'hour', 'user_id'] },
  masks: { of: 'organization', key: ['mask_id'] },
  session_salts: { of: 'organization', key: ['session_id'] },
  event_masks: { of: 'organization', key: ['session_id', 'sequence'] },
  mask_runs: { of: 'organization', key: ['run_id'] },
  jobs: { of: 'organization', key: ['job_id'] },
  session_chains: { of: 'organization', key: ['session_id'] },
  shares: { of: 'organization', key: ['share_id'] },
  stored_bytes: { of: 'quota', key: ['session_id'] },
  stored_days: { of: 'quota', key: ['organization_id', 'day'] },
  session_facts: { of: 'organization', isDerived: true },
  session_values: { of: 'organization', isDerived: true },
  session_chunks: { of: 'organization', isDerived: true },
  session_days: { of: 'organization', isDerived: true },
  session_add_ons: { of: 'organization', isDerived: true },
  summed_days: { of: 'organization', isDerived: true },
  usage_days: { of: 'organization', isDerived: true },
  accounts: { of: 'service', key: ['account_id'] },
  links: { of: 'service', key: ['token_hash'] },
  provider_records: { of: 'service', key: ['record_id'] },
} satisfies Record<keyof Database, Table>;

type Tables = typeof TABLES;
type Derived = { [Name in keyof Tables]: Tables[Name] extends { isDerived: true } ? Name : never }[keyof Tables];
export type MovedTable = Exclude<keyof Tables, Derived>;

const NAMES = Object.keys(TABLES) as (keyof Tables)[];
const isDerived = (name: keyof Tables): name is Derived => 'isDerived' in TABLES[name];
const isMoved = (name: keyof Tables): name is MovedTable => !isDerived(name);

/** The tables that a request can read as the role of its organization. Settings, accounts, links and sign-ins are not among them. */
export const TENANT_TABLES = NAMES.filter((name) => TABLES[name].of === 'organization');

/** Tables whose rows the service can derive again. */
export const DERIVED = NAMES.filter(isDerived);

/** Tables whose rows cannot be derived again, so they are moved to another engine. */
export const MOVED = NAMES.filter(isMoved);

const OTHERWISE_REMOVED = new Set<keyof Tables>(['sessions', 'appends', 'organizations']);
/** Tables whose rows are removed after the sessions of an organization and before its own row, in this order. */
export const REMOVED = MOVED.filter((name) => TABLES[name].of !== 'service' && !OTHERWISE_REMOVED.has(name)).reverse();

/** The columns of the table's primary key. */
export const keyOf = (table: MovedTable): readonly string[] => TABLES[table].key;
