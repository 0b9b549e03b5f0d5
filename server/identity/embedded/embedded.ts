import type { FastifyBaseLogger } from 'fastify';

import { createLocalJWKSet, decodeJwt } from 'jose';
import type { Provider } from 'oidc-provider';
import { Problem } from '../../../contract/problem.ts';

import type { Limits } from '../../limits.ts';
import type { Store } from '../../store/open.ts';
import { asService } from '../../store/tenant.ts';
import type { TrustedClock } from '../../trusted-clock.ts';
import type { Identity } from '../identity.ts';
import type { SendMail } from '../mail.ts';
import { invitationLetter } from '../mail.ts';
import { STANDARD_EMAILS } from '../profile.ts';
import { createVerifier, isForClient } from '../verifier.ts';
import { deleteAccount, findAccount, hasAccounts } from './accounts.ts';
import { addressesOf } from './addresses.ts';
import { Attempts } from './attempts.ts';
import { createKnownBrowsers } from './known-browser.ts';
import { issueLink, LINK_LIFE_MS, mailLink, purgeLinks } from './links.ts';
import { mountProvider } from './mount.ts';
import type { Passwords } from './passwords.ts';

import { purgeRecords } from './records.ts';
import type { PageContext } from './sign-in.ts';
import { CLIENT_ID, EMBEDDED, PASSWORD_VERSION, publicPart, readKeptKeys } from './tokens.ts';

export interface EmbeddedOptions {
  store: Store;
  publicUrl: string;
  signUp: 'invited' | 'open';
  sendMail: SendMail;
  /** Counts requests by address. */
  requests: Limits;
  log: FastifyBaseLogger;
  now: () => number;
  /** Says by which time expired sign-ins may be removed. */
  clock: Pick<TrustedClock, 'time'>;
  passwords: Passwords;
}

const PURGE_EVERY_MS = 3_600_000;

/** An OpenID provider inside the service, with its accounts in the same store. */
export async function createEmbeddedIdentity(options: EmbeddedOptions): Promise<Identity> {
  const { store, publicUrl, signUp, sendMail, requests, log, now, clock, passwords } = options;
  const { db } = store;
  const addresses = addressesOf(publicUrl);
  const keys = await readKeptKeys(db);
  const onError = (error: unknown) => log.error({ err: error }, 'the identity provider failed');
  let loading: Promise<Provider> | undefined;
  const provider = () => {
    loading ??= import('./provider.ts').then(({ createProvider }) =>
      createProvider({ db, addresses, keys, now, onError }),
    );
    return loading;
  };
  const attempts = new Attempts(store);
  const browsers = createKnownBrowsers(String(keys.cookies[0]), addresses);
  const context: PageContext = {
    db,
    provider,
    addresses,
    passwords,
    attempts,
    browsers,
    signUp,
    requests,
    sendMail,
    log,
    now,
  };

  const purgeByAge = async () => {
    const at = await clock.time();
    if (at !== undefined) await Promise.all([purgeRecords(db, at), purgeLinks(db, at)]);
  };
  const purge = () => purgeByAge().catch(onError);
  await purge();
  const purging = setInterval(purge, PURGE_EVERY_MS).unref();

  const check = createVerifier({
    keys: createLocalJWKSet({ keys: keys.signing.map(publicPart) }),
    issuer: () => addresses.issuer,
    isForUs: isForClient(CLIENT_ID),
    emails: STANDARD_EMAILS,
    now,
  });
  return {
    bootstrap: () => ({ idpUserPoolId: '', idpClientId: CLIENT_ID, idpRegion: '', idpDomain: addresses.issuer }),
    async verify(token) {
      const claims = await check(token);
      const account = await findAccount(db, claims.subject);
      if (account?.password_version !== (decodeJwt(token)[PASSWORD_VERSION] ?? 0)) throw replaced();
      return { ...claims, issuer: EMBEDDED };
    },
    // The service's own store says which person belongs to which organization.
    assignTenant: async () => undefined,
    async invite(mail) {
      const issuedAt = now();
      const send = (token: string) => sendMail(invitationLetter(mail, addresses.link('join', token)));
      await asService(() => mailLink(db, 'invitation', mail.email, issuedAt, send));
      return { linkExpiresAt: issuedAt + LINK_LIFE_MS.invitation };
    },
    recordsSignIns: true,
    deleteAccount: (transaction, { subject }) => deleteAccount(transaction, subject),
    origins: async () => [addresses.publicUrl.origin],
    mount: (app) => mountProvider(app, context),
    async greeting() {
      if (await hasAccounts(db)) return [];
      const token = await issueLink(db, 'first_account', null, now());
      return [`Create the first account (works once, for 24 hours): ${addresses.link('welcome', token)}`];
    },
    async close() {
      clearInterval(purging);
    },
  };
}

const replaced = () =>
  new Problem('token_expired', 'The password of this sign-in was replaced, or its account removed. Sign in again.');
