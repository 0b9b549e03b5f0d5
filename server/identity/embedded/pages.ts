import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { Limits } from '../../limits.ts';
import { emailKey } from '../../store/email.ts';
import type { Db, Store } from '../../store/open.ts';
import type { SendMail } from '../mail.ts';
import type { Addresses } from './addresses.ts';
import { type Attempts, createAttempts } from './attempts.ts';
import type { KnownBrowsers } from './known-browser.ts';
import type { Passwords } from './passwords.ts';

/** What the pages work with. */
export interface Pages {
  db: Db;
  /** Loaded when it is first asked for, since most starts of the service see no sign-in for a while. */
  provider: () => Promise<Provider>;
  addresses: Addresses;
  passwords: Passwords;
  limits: PageLimits;
  browsers: KnownBrowsers;
  signUp: 'invited' | 'open';
  /** Of all requests, beside those of passwords. */
  requests: Limits;
  sendMail: SendMail;
  log: FastifyBaseLogger;
  now: () => number;
}

/** Attempts in a quarter of an hour, over all replicas. */
export interface PageLimits {
  /** At one account from one address, or from one browser that is known to it: guessing a password. */
  guess: Attempts;
  /** At one account from everywhere else: guessing from many addresses. */
  account: Attempts;
  /** At all accounts from one address: trying one password on many. */
  address: Attempts;
  /** Mails to one person that one address asked for. */
  mail: Attempts;
  /** Mails to one person, whoever asked for them. */
  mailbox: Attempts;
}

export const createPageLimits = (store: Pick<Store, 'pool'>): PageLimits => ({
  guess: createAttempts('guess', 10, store),
  account: createAttempts('account', 50, store),
  address: createAttempts('sign-in', 100, store),
  mail: createAttempts('mail', 3, store),
  mailbox: createAttempts('mailbox', 10, store),
});

/**
 * Counts an attempt to sign in. Who comes in a browser that is known to the account does not share the limits of
 * strangers, so that no number of those locks the person out.
 * @returns seconds to wait, and what to call when the password was right
 */
export async function takeGuess(limits: PageLimits, { ip }: FastifyRequest, email: string, browser?: string) {
  const account = emailKey(email);
  const guess = `${account} ${browser ?? ip}`;
  if (browser !== undefined)
    return { wait: await limits.guess.take(guess), forgive: () => limits.guess.forgive(guess) };
  const wait =
    (await limits.address.take(ip)) || (await limits.guess.take(guess)) || (await limits.account.take(account));
  const forgive = () =>
    Promise.all([limits.address.giveBack(ip), limits.guess.forgive(guess), limits.account.giveBack(account)]);
  return { wait, forgive };
}

/** The sentence for somebody who must wait; sets the status and `Retry-After` with it. */
export function tooMany(reply: FastifyReply, seconds: number): string {
  reply.header('retry-after', String(seconds));
  const minutes = Math.ceil(seconds / 60);
  return `Too many attempts. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
}
