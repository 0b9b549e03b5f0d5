import type { JSONWebKeySet, JWTPayload } from 'jose';
import { type Discovery, RemoteDiscovery } from './discovery.ts';
import { type Fetch, fetchJson } from './fetch-json.ts';
import type { Identity } from './identity.ts';
import { ProviderKeys } from './keys.ts';
import type { SendMail } from './mail.ts';
import { signInLetter } from './mail.ts';
import { type EmailRules, STANDARD_EMAILS } from './profile.ts';
import { createUserinfo } from './userinfo.ts';
import { createVerifier, isForClient } from './verifier.ts';

export interface OidcOptions {
  issuer: string;
  clientId: string;
  /** The address at which an invited person signs in. */
  publicUrl: string;
  sendMail: SendMail;
  fetch: Fetch;
  now: () => number;
  /** Absent: by the rules of OpenID Connect. */
  emails?: EmailRules;
  /** Called for errors of the provider that the service survives. */
  onError: (error: unknown) => void;
  /** Whether a token was made for this client; absent: by the rules of OpenID Connect. */
  isForUs?: (payload: JWTPayload) => boolean;
  /** The provider's metadata; absent: read from its discovery document. */
  discovery?: Discovery;
}

/**
 * Any OpenID provider, found by discovery. Discovery starts with the first token, so the service can start while the provider
 * is down.
 */
export function createOidcIdentity(options: OidcOptions): Identity {
  const { issuer, clientId, publicUrl, sendMail, fetch, now, onError } = options;
  const { emails = STANDARD_EMAILS, isForUs = isForClient(clientId) } = options;
  const { discovery = new RemoteDiscovery(issuer, fetch, now) } = options;
  const loadKeys = async () =>
    (await fetchJson((await discovery.read()).jwksUri, { fetch })) as unknown as JSONWebKeySet;
  const nameOfIssuer = () => discovery.known()?.issuer ?? issuer;
  return {
    bootstrap: () => ({ idpUserPoolId: '', idpClientId: clientId, idpRegion: '', idpDomain: nameOfIssuer() }),
    verify: createVerifier({
      keys: new ProviderKeys({ load: loadKeys, now, onError }).find,
      issuer: nameOfIssuer,
      isForUs,
      emails,
      findUserinfo: createUserinfo({ endpoint: () => discovery.known()?.userinfoEndpoint, fetch, now, onError }),
      now,
    }),
    // Memberships are in the service's own store, so the provider need not know them.
    assignTenant: async () => undefined,
    async invite(mail) {
      await sendMail(signInLetter(mail, `${publicUrl}/`));
      return {};
    },
    async origins() {
      const endpoints = (await discovery.tryRead())?.browserEndpoints ?? [];
      return [...new Set([issuer, ...endpoints].map((address) => new URL(address).origin))];
    },
  };
}
