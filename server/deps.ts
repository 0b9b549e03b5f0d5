import type { Authenticator } from './http/auth.ts';
import type { Identity } from './identity/identity.ts';
import type { Append } from './ingest/append.ts';
import type { Deriver } from './ingest/derive.ts';
import type { Live } from './ingest/live.ts';
import type { Store } from './store/open.ts';

/** What the handlers work with. */
export interface Deps {
  store: Store;
  identity: Identity;
  authenticator: Authenticator;
  append: Append;
  derive: Deriver;
  live: Live;
  /** Address at which browsers and CLIs reach the service. */
  publicUrl: string;
  pepper: string;
  version: string;
  /** Milliseconds since the epoch. */
  now: () => number;
}
