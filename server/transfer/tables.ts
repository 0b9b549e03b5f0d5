import { type RawBuilder, sql } from 'kysely';
import { pack } from '../log/codec.ts';
import { decodeFrame, encodeFrame, type FramedEvent } from '../log/frame.ts';
import type { MovedRow } from '../store/move.ts';
import { type MovedTable, REMOVED_AFTER_SESSION } from '../store/tables.ts';

const own = (organizationId: string) => sql`organization_id = ${organizationId}`;
const kept = (organizationId: string) => sql`organization_id = ${organizationId} and deleted_at is null`;
/** Excludes the rows of deleted sessions that are not removed yet. */
const ofKept = (organizationId: string) =>
  sql`organization_id = ${organizationId}
    and session_id in (select session_id from sessions where ${kept(organizationId)})`;

/** The sessions whose content has not expired. Content of the others that is not removed yet must not be read. */
export const WITH_CONTENT = sql`content_expired_at is null`;

/** Conditions for the exported rows of each table. A table comes after the tables that it refers to. */
export type Selection = { [Name in MovedTable]?: RawBuilder<unknown> };

/** The same value for each table whose rows end with their session. */
export const forEachOfSessions = <Value>(value: Value) =>
  Object.fromEntries(REMOVED_AFTER_SESSION.map((table) => [table, value])) as Record<
    (typeof REMOVED_AFTER_SESSION)[number],
    Value
  >;

/** The exported tables, and the condition for the rows of an organization. */
export const EXPORTED: { [Name in MovedTable]?: (organizationId: string) => RawBuilder<unknown> } = {
  users: (organizationId) =>
    sql`user_id in (select user_id from members where organization_id = ${organizationId} and status = 'active')`,
  organizations: own,
  members: own,
  directory_tokens: own,
  directory_users: own,
  policies: own,
  person_deletions: own,
  secrets: own,
  environments: own,
  installations: own,
  views: own,
  holds: own,
  sessions: kept,
  removals: own,
  appends: (organizationId) =>
    sql`organization_id = ${organizationId}
      and session_id in (select session_id from sessions where ${kept(organizationId)} and ${WITH_CONTENT})`,
  ...forEachOfSessions(ofKept),
  // A running mask contains its text, encrypted with a key of this service.
  masks: (organizationId) =>
    sql`${own(organizationId)} and finished_at is not null and (session_id is null or ${ofKept(organizationId)})`,
  stored_days: own,
  audit_heads: own,
  audit_entries: own,
};

export const selectOrganization = (organizationId: string): Selection =>
  Object.fromEntries(Object.entries(EXPORTED).map(([table, fitting]) => [table, fitting(organizationId)]));

/** Selects the data of one person: what they did and sent, and what is stored about them. */
export const selectPerson = (organizationId: string, userId: string): Selection => {
  const theirs = sql`organization_id = ${organizationId} and user_id = ${userId}`;
  const sessions = sql`${theirs} and deleted_at is null`;
  const ofTheirs = sql`organization_id = ${organizationId}
    and session_id in (select session_id from sessions where ${sessions})`;
  const member = sql`(select * from members where ${theirs})`;
  // Others may have shared the sessions, and the bytes count for the quotas of the organization.
  const { shares: _, stored_bytes: __, ...ofSessions } = forEachOfSessions(ofTheirs);
  return {
    users: sql`user_id in (select user_id from ${member} as member where status = 'active')`,
    members: theirs,
    directory_users: sql`organization_id = ${organizationId}
      and member_key in (select email_key from ${member} as member where email_key is not null)`,
    environments: theirs,
    installations: sql`organization_id = ${organizationId}
      and environment_id in (select environment_id from environments where ${theirs})`,
    views: sql`organization_id = ${organizationId} and created_by = ${userId}`,
    sessions,
    removals: ofTheirs,
    appends: sql`${ofTheirs} and session_id in (select session_id from sessions where ${sessions} and ${WITH_CONTENT})`,
    ...ofSessions,
    session_views: theirs,
    masks: sql`${ofTheirs} and finished_at is not null`,
    audit_entries: sql`organization_id = ${organizationId} and actor_kind = 'person' and actor_id = ${userId}`,
  };
};

/** The tables that are never exported, and the reason. */
export const NOT_EXPORTED: { [Name in MovedTable]?: string } = {
  settings: 'belong to the service, and contain its keys and its pepper',
  jobs: 'concern running masks, with texts that are encrypted with a key of this service',
  device_sign_ins: 'exist only for some minutes',
  accounts: 'belong to people at the embedded identity provider, who may join another organization later',
  links: 'belong to people at the embedded identity provider',
  provider_records: 'are sign-ins at the embedded identity provider',
};

/** The exported form of a row. An append has each event with the text of its payload, exactly as it was accepted. */
export function toExported(table: MovedTable, row: MovedRow): MovedRow {
  if (table !== 'appends') return row;
  const { codec, body, ...rest } = row;
  const events = decodeFrame({ codec: Number(codec), body: body as Uint8Array });
  return { ...rest, events: events.map(({ eventType, payload }) => ({ eventType, payload: textOf(payload) })) };
}

/** @throws if the bytes are not UTF-8; the service accepts no such payload */
const textOf = (bytes: Uint8Array) => STRICT.decode(bytes);
const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The stored form of an exported row. */
export function toStored(table: MovedTable, row: MovedRow): MovedRow {
  if (table !== 'appends') return row;
  const { events, ...rest } = row;
  const framed: FramedEvent[] = (events as { eventType: string; payload: string }[]).map(({ eventType, payload }) => ({
    eventType,
    payload: Buffer.from(payload),
  }));
  return { ...rest, ...pack(encodeFrame(framed)) };
}
