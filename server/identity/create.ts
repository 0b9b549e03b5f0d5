import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import type { Limits } from '../limits.ts';
import type { Store } from '../store/open.ts';
import type { TrustedClock } from '../trusted-clock.ts';
import { createCognitoIdentity } from './cognito.ts';
import { createEmbeddedIdentity } from './embedded/embedded.ts';
import { createPasswords, type Passwords } from './embedded/passwords.ts';
import type { Fetch } from './fetch-json.ts';
import type { Identity } from './identity.ts';
import { createOutbox, createSmtp, type SendMail, senderOf } from './mail.ts';
import { createOidcIdentity } from './oidc.ts';

export interface IdentityOptions {
  config: Config;
  store: Store;
  /** Address at which browsers reach the service, without a slash at the end. */
  publicUrl: string;
  log: FastifyBaseLogger;
  /** The limits of the service. */
  limits: Limits;
  fetch?: Fetch;
  now?: () => number;
  /** Says by which time expired sign-ins may be removed. */
  clock: Pick<TrustedClock, 'time'>;
  passwords?: Passwords;
}

/** Creates the identity provider that the configuration names. */
export async function createIdentity(options: IdentityOptions): Promise<Identity> {
  const identity = await createProviderIdentity(options);
  const { ADOPT_MEMBERS, FOUNDERS, IDENTITY_PROVIDER, SIGN_UP, SMTP_URL } = options.config;
  const rules = {
    adoptsMembers: ADOPT_MEMBERS !== 'off',
    foundsUnverified: FOUNDERS === 'anyone',
    asksBeforeJoining: SIGN_UP === 'open',
  };
  return {
    ...identity,
    // A pool of Cognito itself mails whom it does not know yet.
    ...(SMTP_URL === undefined && IDENTITY_PROVIDER !== 'cognito' && { keepsMails: true }),
    verify: async (token) => ({ ...(await identity.verify(token)), ...rules }),
  };
}

async function createProviderIdentity(options: IdentityOptions): Promise<Identity> {
  const {
    config,
    store,
    publicUrl,
    log,
    fetch = globalThis.fetch,
    now = Date.now,
    passwords = createPasswords(),
    limits,
    clock,
  } = options;
  const sendMail = createMailer({ config, store, publicUrl, log, now });
  if (config.IDENTITY_PROVIDER === 'embedded') {
    const signUp = config.SIGN_UP === 'open' ? 'open' : 'invited';
    return createEmbeddedIdentity({ store, publicUrl, signUp, sendMail, requests: limits, log, now, clock, passwords });
  }
  const onError = (error: unknown) => log.warn({ err: error }, 'the identity provider could not be asked');
  const shared = { publicUrl, sendMail, fetch, now, onError };
  if (config.IDENTITY_PROVIDER === 'cognito') {
    const userPoolId = needed(config, 'COGNITO_USER_POOL_ID');
    return createCognitoIdentity({
      ...shared,
      userPoolId,
      clientId: needed(config, 'COGNITO_CLIENT_ID'),
      region: config.COGNITO_REGION ?? regionOf(userPoolId),
      domain: config.COGNITO_DOMAIN,
      endpoint: config.COGNITO_ENDPOINT,
    });
  }
  return createOidcIdentity({
    ...shared,
    issuer: needed(config, 'OIDC_ISSUER'),
    clientId: needed(config, 'OIDC_CLIENT_ID'),
    emails: { claim: config.OIDC_EMAIL_CLAIM, trustsIssuer: config.OIDC_TRUST_EMAIL === 'issuer' },
  });
}

function needed(config: Config, name: 'OIDC_ISSUER' | 'OIDC_CLIENT_ID' | 'COGNITO_USER_POOL_ID' | 'COGNITO_CLIENT_ID') {
  const value = config[name];
  if (value === undefined) throw new Error(`${name} is needed`);
  return value;
}

/** The id of a user pool begins with its region. */
const regionOf = (userPoolId: string): string => userPoolId.slice(0, userPoolId.indexOf('_'));

type MailerOptions = Pick<IdentityOptions, 'config' | 'store' | 'publicUrl' | 'log'> & { now: () => number };

function createMailer({ config, store, publicUrl, log, now }: MailerOptions): SendMail {
  const from = config.MAIL_FROM ?? senderOf(publicUrl);
  if (config.SMTP_URL !== undefined) return createSmtp({ url: config.SMTP_URL, from, now });
  if (store.engine === 'postgres') {
    log.warn('SMTP_URL is not set: mails stay in the outbox of this process, and every replica has its own outbox');
  }
  return createOutbox({ dataDir: config.DATA_DIR, from, log, now });
}
