/* The rows of an organization's directory, as `schema.ts` has those of all else. */

export interface DirectoryTokenRow {
  organization_id: string;
  token_id: string;
  /** HMAC-SHA-256 of the value under the server's pepper, in hexadecimal. */
  hash: string;
  last_four: string;
  created_by: string;
  created_at: number;
  last_used_at: number | null;
}

export interface DirectoryUserRow {
  directory_user_id: string;
  organization_id: string;
  /** Lower-case `userName`. */
  user_key: string;
  /** Lower-case e-mail of the member, or of the invitation that they would get. */
  member_key: string;
  external_id: string | null;
  /** JSON of the attributes that the directory sent. */
  attributes: string;
  created_at: number;
  updated_at: number;
}

export interface DirectoryTables {
  directory_tokens: DirectoryTokenRow;
  directory_users: DirectoryUserRow;
}
