import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { Limits } from '../../limits.ts';
import type { Db } from '../../store/open.ts';
import type { SendMail } from '../mail.ts';
import type { Addresses } from './addresses.ts';
import type { Attempts } from './attempts.ts';
import type { KnownBrowsers } from './known-browser.ts';
import type { Passwords } from './passwords.ts';

/** What the pages work with. */
export interface Pages {
  db: Db;
  /** Loaded when it is first asked for, since most starts of the service see no sign-in for a while. */
  provider: () => Promise<Provider>;
  addresses: Addresses;
  passwords: Passwords;
  attempts: Attempts;
  browsers: KnownBrowsers;
  signUp: 'invited' | 'open';
  /** Of all requests, beside those of passwords. */
  requests: Limits;
  sendMail: SendMail;
  log: FastifyBaseLogger;
  now: () => number;
}

/** The sentence for somebody who must wait; sets the status and `Retry-After` with it. */
export function tooMany(reply: FastifyReply, seconds: number): string {
  reply.header('retry-after', String(seconds));
  const minutes = Math.ceil(seconds / 60);
  return `Too many attempts. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
}
