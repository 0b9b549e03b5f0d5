import type { JSONWebKeySet } from 'jose';
import { discover, type Metadata } from './discovery.ts';
import { type Fetch, fetchJson } from './fetch-json.ts';
import type { Identity } from './identity.ts';
import { createKeys } from './keys.ts';
import { signInLetter } from './letters.ts';
import type { SendMail } from './mail.ts';
import { createUserinfo } from './userinfo.ts';
import { createVerifier, isForClient } from './verifier.ts';

export interface OidcOptions {
  issuer: string;
  clientId: string;
  /** Where an invited person goes to sign in. */
  publicUrl: string;
  sendMail: SendMail;
  fetch: Fetch;
  now: () => number;
  /** Told of what the provider did wrong; the service goes on. */
  onError: (error: unknown) => void;
}

/** What is known of the provider is asked for again as its keys are, but once it is known it stays. */
const METADATA_MS = 3_600_000;

/**
 * Any OpenID provider, found by discovery. The provider is first asked when the first token arrives, so that the service
 * starts without it.
 */
export function createOidcIdentity(options: OidcOptions): Identity {
  const { issuer, clientId, publicUrl, sendMail, fetch, now, onError } = options;
  let metadata: Metadata | undefined;
  let discoveredAt = Number.NEGATIVE_INFINITY;

  async function loadKeys(): Promise<JSONWebKeySet> {
    if (!metadata || now() - discoveredAt > METADATA_MS) {
      metadata = await discover(issuer, fetch);
      discoveredAt = now();
    }
    return (await fetchJson(metadata.jwksUri, { fetch })) as unknown as JSONWebKeySet;
  }

  const nameOfIssuer = () => metadata?.issuer ?? issuer;
  return {
    bootstrap: () => ({ idpUserPoolId: '', idpClientId: clientId, idpRegion: '', idpDomain: nameOfIssuer() }),
    verify: createVerifier({
      keys: createKeys({ load: loadKeys, now, onError }),
      issuer: nameOfIssuer,
      isForUs: isForClient(clientId),
      findProfile: createUserinfo({ endpoint: () => metadata?.userinfoEndpoint, fetch, now, onError }),
      now,
    }),
    // The service's own store says who belongs where; the provider need not know.
    assignTenant: async () => undefined,
    async invite(mail) {
      await sendMail(signInLetter(mail, `${publicUrl}/`));
      return {};
    },
    origins: async () => [new URL(issuer).origin],
  };
}
