import type { Time } from './schema-governance.ts';

/* The rows of the service's own sign-in. */

export interface Dated {
  created_at: Time;
  updated_at: Time;
}

/** An account of the embedded identity provider. */
export interface AccountRow extends Dated {
  account_id: string;
  email: string;
  /** Lower-case e-mail, unique. */
  email_key: string;
  email_verified: number;
  /** Encoded scrypt hash with its parameters and salt. */
  password: string;
  /** Each new password increments it, which invalidates the tokens of earlier passwords. */
  password_version: number;
}

/** A single-use link that lets its holder create an account or set a password. */
export interface LinkRow {
  /** SHA-256 of the token, in hexadecimal. */
  token_hash: string;
  purpose: 'first_account' | 'invitation' | 'password_reset';
  /** The address to which the link was mailed, if any. Using the link verifies this address. */
  email: string | null;
  created_at: Time;
  expires_at: Time;
  used_at: Time | null;
}

/** A record of the embedded OpenID provider: session, grant, code, token … */
export interface ProviderRecordRow {
  /** `Model:id`. */
  record_id: string;
  model: string;
  grant_id: string | null;
  uid: string | null;
  user_code: string | null;
  /** JSON text. */
  payload: string;
  expires_at: Time | null;
  consumed_at: Time | null;
}
