import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import type { Store } from '../store/open.ts';
import { createEmbeddedIdentity } from './embedded/embedded.ts';
import type { Fetch } from './fetch-json.ts';
import type { Identity } from './identity.ts';
import { createOutbox } from './mail.ts';
import { createOidcIdentity } from './oidc.ts';

export interface IdentityOptions {
  config: Pick<Config, 'IDENTITY_PROVIDER' | 'SIGN_UP' | 'OIDC_ISSUER' | 'OIDC_CLIENT_ID' | 'DATA_DIR'>;
  store: Store;
  /** Address at which browsers reach the service, without a slash at the end. */
  publicUrl: string;
  log: FastifyBaseLogger;
  fetch?: Fetch;
  now?: () => number;
}

/** The identity provider that the configuration names. */
export async function createIdentity(options: IdentityOptions): Promise<Identity> {
  const { config, store, publicUrl, log, fetch = globalThis.fetch, now = Date.now } = options;
  const sendMail = createOutbox({ dataDir: config.DATA_DIR, publicUrl, log, now });
  if (config.IDENTITY_PROVIDER === 'embedded') {
    return createEmbeddedIdentity({
      db: store.db,
      publicUrl,
      signUp: config.SIGN_UP === 'open' ? 'open' : 'invited',
      sendMail,
      log,
      now,
    });
  }
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = config;
  if (issuer === undefined || clientId === undefined) throw new Error('OIDC_ISSUER and OIDC_CLIENT_ID are needed');
  const onError = (error: unknown) => log.warn({ err: error }, 'the identity provider could not be asked');
  return createOidcIdentity({ issuer, clientId, publicUrl, sendMail, fetch, now, onError });
}
