import type { FastifyBaseLogger } from 'fastify';
import { createLocalJWKSet } from 'jose';
import type { Provider } from 'oidc-provider';
import type { Limits } from '../../http/limits.ts';
import type { Db } from '../../store/open.ts';
import type { Identity } from '../identity.ts';
import { invitationLetter } from '../letters.ts';
import type { SendMail } from '../mail.ts';
import { createVerifier, isForClient } from '../verifier.ts';
import { hasAccounts } from './accounts.ts';
import { addressesOf } from './addresses.ts';
import { CLIENT_ID } from './client.ts';
import { publicPart, readKeptKeys } from './kept.ts';
import { issueLink, LINK_LIFE_MS, mailLink, purgeLinks } from './links.ts';
import { mountProvider } from './mount.ts';
import { createPageLimits, type Pages } from './pages.ts';
import type { Passwords } from './passwords.ts';
import { purgeRecords } from './records.ts';

export interface EmbeddedOptions {
  db: Db;
  publicUrl: string;
  signUp: 'invited' | 'open';
  sendMail: SendMail;
  /** Counts requests by address. */
  requests: Limits;
  log: FastifyBaseLogger;
  now: () => number;
  passwords: Passwords;
}

/** People are known by issuer and subject. The accounts stay when the service's address, and so the token's `iss`, changes. */
const EMBEDDED = 'embedded';

const PURGE_EVERY_MS = 3_600_000;

/** An OpenID provider inside the service, with its accounts in the same store. */
export async function createEmbeddedIdentity(options: EmbeddedOptions): Promise<Identity> {
  const { db, publicUrl, signUp, sendMail, requests, log, now, passwords } = options;
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
  const limits = createPageLimits(now);
  const pages: Pages = { db, provider, addresses, passwords, limits, signUp, requests, sendMail, log, now };

  const purge = () => Promise.all([purgeRecords(db, now()), purgeLinks(db, now())]).catch(onError);
  await purge();
  const purging = setInterval(purge, PURGE_EVERY_MS).unref();

  const check = createVerifier({
    keys: createLocalJWKSet({ keys: keys.signing.map(publicPart) }),
    issuer: () => addresses.issuer,
    isForUs: isForClient(CLIENT_ID),
    now,
  });
  return {
    bootstrap: () => ({ idpUserPoolId: '', idpClientId: CLIENT_ID, idpRegion: '', idpDomain: addresses.issuer }),
    verify: async (token) => ({ ...(await check(token)), issuer: EMBEDDED }),
    // The service's own store says who belongs where.
    assignTenant: async () => undefined,
    async invite(mail) {
      const issuedAt = now();
      await mailLink(db, 'invitation', mail.email, issuedAt, (token) =>
        sendMail(invitationLetter(mail, addresses.link('join', token))),
      );
      return { linkExpiresAt: issuedAt + LINK_LIFE_MS.invitation };
    },
    origins: async () => [addresses.publicUrl.origin],
    mount: (app) => mountProvider(app, pages),
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
