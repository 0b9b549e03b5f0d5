import type { Generated, Insertable, Kysely } from 'kysely';
import type { Database, Defaults } from './schema.gen.ts';

/* The rows of all tables. Times are epoch milliseconds. Ids are the opaque strings of the API. */

export type * from './schema.gen.ts';

type WithDefaults<Row, Names> = { [Name in keyof Row]: Name extends Names ? Generated<Row[Name]> : Row[Name] };

/** The rows of all tables, as the query layer knows them. */
export type Tables = {
  [Name in keyof Database]: WithDefaults<Database[Name], Name extends keyof Defaults ? Defaults[Name] : never>;
};

/** A row to insert. A column that may be null or has a default may be left out. */
export type NewRow<Name extends keyof Database> = Insertable<Tables[Name]>;

/** A person in an organization. */
export interface MemberKey {
  organizationId: string;
  userId: string;
}

/** A secret of an organization. */
export interface SecretKey {
  organizationId: string;
  secretId: string;
}

/** The store, on either engine. */
export type Db = Kysely<Tables>;
