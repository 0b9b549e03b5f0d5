import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { type AdapterFactory, type AdapterPayload, type Configuration, Provider } from 'oidc-provider';

export interface ForeignOptions {
  /** The address of the dashboard. */
  publicUrl: string;
  /** Does no more than OpenID Connect requires: no refresh tokens, no sign-out. */
  isPlain?: boolean;
}

export type ForeignProvider = Awaited<ReturnType<typeof startForeignProvider>>;

const createSigningKey = async (alg: string): Promise<JWK> => {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: crypto.randomUUID(), alg, use: 'sig' };
};

/**
 * An OpenID provider with the default pages of `oidc-provider`: any e-mail with any password signs in, and a second page asks
 * the person for consent to the dashboard.
 */
export async function startForeignProvider({ publicUrl, isPlain = false }: ForeignOptions) {
  const state = {
    /** The provider's fault, if it does not answer. */
    fault: undefined as 'cuts the connection' | 'never answers' | undefined,
    /** Paths of the requests. */
    requests: [] as string[],
  };
  let provider: Provider;
  const server = createServer((request, response) => {
    state.requests.push((request.url ?? '').split('?')[0] ?? '');
    if (state.fault === 'cuts the connection') request.socket.destroy();
    else if (!state.fault) provider.callback()(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  let alg: 'RS256' | 'PS256' = 'RS256';
  let keys = await Promise.all([createSigningKey(alg), createSigningKey(alg)]);
  const adapter = createMemory();
  function create(): Provider {
    const configuration: Configuration = {
      adapter,
      clients: [
        {
          client_id: 'dashboard',
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code', ...(isPlain ? [] : ['refresh_token'])],
          redirect_uris: [`${publicUrl}/signed-in`],
          post_logout_redirect_uris: [`${publicUrl}/`],
          id_token_signed_response_alg: alg,
        },
      ],
      jwks: { keys },
      enabledJWA: { idTokenSigningAlgValues: [alg] },
      cookies: { keys: ['of this test'] },
      scopes: ['openid', 'email', 'profile', ...(isPlain ? [] : ['offline_access'])],
      claims: { email: ['email', 'email_verified'] },
      conformIdTokenClaims: false,
      features: { rpInitiatedLogout: { enabled: !isPlain } },
      clientBasedCORS: () => true,
      // The default withholds refresh tokens from a browser that was not asked for consent this time.
      issueRefreshToken: async (_context, client) => client.grantTypeAllowed('refresh_token'),
      findAccount: (_context, email) => ({
        accountId: email,
        claims: () => ({ sub: email, email, email_verified: true }),
      }),
    };
    return new Provider(issuer, configuration);
  }
  provider = create();

  return Object.assign(state, {
    issuer,
    variables: { IDENTITY_PROVIDER: 'oidc', OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'dashboard' },
    count: (path: string) => state.requests.filter((request) => request === path).length,
    /** Signs with the announced key, and announces another one. */
    async rotateKeys() {
      keys = [keys[1], await createSigningKey(alg)];
      provider = create();
    },
    /** From now on, ID tokens have a signature that the service does not accept. */
    async signOtherwise() {
      alg = 'PS256';
      keys = [await createSigningKey(alg), await createSigningKey(alg)];
      provider = create();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/** Memory that survives new keys. */
function createMemory(): AdapterFactory {
  const records = new Map<string, AdapterPayload>();
  return (model) => {
    const find = async (id: string) => records.get(`${model}:${id}`);
    return {
      find,
      upsert: async (id, payload) => void records.set(`${model}:${id}`, payload),
      findByUid: async (uid) => [...records.values()].find((record) => record.uid === uid),
      findByUserCode: async () => undefined,
      consume: async (id) => void Object.assign((await find(id)) ?? {}, { consumed: true }),
      destroy: async (id) => void records.delete(`${model}:${id}`),
      revokeByGrantId: async (grantId) => {
        for (const [key, record] of records) if (record.grantId === grantId) records.delete(key);
      },
    };
  };
}
