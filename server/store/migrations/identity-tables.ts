import { forEngines } from './engines.ts';

/** Accounts and sign-ins of the embedded identity provider. */
export const IDENTITY = forEngines(
  () => `
-- An account of the embedded identity provider.
create table accounts (
  account_id text primary key,
  email text not null,
  -- Lower-case e-mail, unique.
  email_key text not null unique,
  email_verified integer not null,
  -- Encoded scrypt hash with its parameters and salt.
  password text not null,
  -- Each new password increments it, which invalidates the tokens of earlier passwords.
  password_version integer default 0 not null,
  created_at bigint not null,
  updated_at bigint not null
);

-- A single-use link that lets its holder create an account or set a password.
create table links (
  -- SHA-256 of the token, in hexadecimal.
  token_hash text primary key,
  purpose text not null, --: 'first_account' | 'invitation' | 'password_reset'
  -- The address to which the link was mailed, if any. Using the link verifies this address.
  email text,
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint
);

-- A record of the embedded OpenID provider: session, grant, code, token …
create table provider_records (
  -- \`Model:id\`.
  record_id text primary key,
  model text not null,
  grant_id text,
  uid text,
  -- JSON text; empty after the record ended.
  payload text not null,
  expires_at bigint,
  consumed_at bigint
);
create index provider_records_by_grant_id on provider_records (grant_id);
create index provider_records_by_uid on provider_records (uid);
create index provider_records_by_expires_at on provider_records (expires_at);
`,
);
