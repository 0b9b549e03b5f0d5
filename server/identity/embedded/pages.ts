import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { Limits } from '../../http/limits.ts';
import { emailKey } from '../../store/email.ts';
import type { Db } from '../../store/open.ts';
import type { SendMail } from '../mail.ts';
import type { Addresses } from './addresses.ts';
import { type Attempts, createAttempts } from './attempts.ts';
import type { Passwords } from './passwords.ts';

/** What the pages work with. */
export interface Pages {
  db: Db;
  /** Loaded when it is first asked for, since most starts of the service see no sign-in for a while. */
  provider: () => Promise<Provider>;
  addresses: Addresses;
  passwords: Passwords;
  limits: PageLimits;
  signUp: 'invited' | 'open';
  /** Of all requests, beside those of passwords. */
  requests: Limits;
  sendMail: SendMail;
  log: FastifyBaseLogger;
  now: () => number;
}

/** Attempts in a quarter of an hour. */
export interface PageLimits {
  /** At one account from one address: guessing a password. */
  account: Attempts;
  /** At all accounts from one address: trying one password on many. */
  address: Attempts;
  /** Mails to one person, whoever asks for them. */
  mail: Attempts;
}

export const createPageLimits = (now: () => number): PageLimits => ({
  account: createAttempts(10, now),
  address: createAttempts(100, now),
  mail: createAttempts(3, now),
});

export const accountLimitKey = (request: FastifyRequest, email: string) => `${emailKey(email)} ${request.ip}`;

/** The sentence for somebody who must wait; sets the status and `Retry-After` with it. */
export function tooMany(reply: FastifyReply, seconds: number): string {
  reply.header('retry-after', String(seconds));
  const minutes = Math.ceil(seconds / 60);
  return `Too many attempts. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
}
