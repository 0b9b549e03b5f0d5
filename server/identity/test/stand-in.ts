import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JWTPayload } from 'jose';
import { createKey } from './provider.ts';

type Claims = Record<string, unknown>;

/** The answers of a provider, as its documentation and its users record them. The people are invented. */
export interface Shape {
  name: string;
  sources: readonly string[];
  /** The options of the service besides the issuer and the client. */
  options: Record<string, string>;
  discovery: { issuer: string; token_endpoint: string } & Record<string, unknown>;
  algorithm: 'RS256' | 'ES256';
  /** Members of the published key besides the usual ones. */
  key: Claims;
  clientId: string;
  /** The token endpoint refuses a client without a secret. */
  needsSecret?: true;
  /** When the provider issues a refresh token. */
  refresh: 'always' | 'offline_access' | 'never';
  /** Seconds that an ID token is valid. */
  lifetime: number;
  idToken: Claims;
  /** Claims of an access token; absent: it is no JWT. */
  accessToken?: Claims;
  userinfo: Claims;
  /** The `externalId` that its directory sends; absent: it has no SCIM client. */
  externalId?: string;
  /** Whether the verified e-mail lets an invited person join. */
  verifies: boolean;
}

const FOLDER = new URL('fixtures/providers/', import.meta.url);

export const SHAPES: readonly Shape[] = readdirSync(FOLDER)
  .sort()
  .map((file) => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Shape);

export function shapeOf(name: string): Shape {
  const shape = SHAPES.find((one) => one.name === name);
  if (!shape) throw new Error(`there is no provider ${name}`);
  return shape;
}

/** The values for the places in a shape. A person is known by their e-mail. */
export function fill<Template>(template: Template, email: string): Template {
  const hash = createHash('sha256').update(email).digest('hex');
  const uuid = hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
  const [key = ''] = email.split('@');
  const values: Record<string, string> = { email, key, uuid, hash, number: String(parseInt(hash.slice(0, 8), 16)) };
  const text = JSON.stringify(template).replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
  return JSON.parse(text) as Template;
}

export type StandIn = Awaited<ReturnType<typeof startStandIn>>;

interface Grant {
  email: string;
  challenge: string;
  redirect: string;
  scope: string;
  nonce: string | null;
}

/**
 * A provider on loopback that answers as a shape does. All its hosts become one. Its only page asks for an e-mail, and its
 * cookie recognizes the browser.
 */
export async function startStandIn(given: Shape, publicUrl: string) {
  const key = await createKey('key-1', given.algorithm);
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const shape = JSON.parse(JSON.stringify(given).replace(/https:\/\/[^/"]+(?=[/"])/g, origin)) as Shape;
  const { discovery, clientId } = shape;
  const { issuer } = discovery;
  const paths = Object.fromEntries(
    Object.entries(discovery)
      .filter(([name]) => /_(endpoint|uri)$/.test(name))
      .map(([name, address]) => [new URL(String(address)).pathname, name]),
  );
  const grants = new Map<string, Grant>();
  const requests: string[] = [];
  /** Changes of claims, by e-mail. */
  const changes = new Map<string, Claims>();

  async function sign(claims: Claims, email: string): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const standard = { iss: issuer, aud: clientId, iat: now, jti: randomUUID(), exp: now + shape.lifetime };
    const payload: JWTPayload = { ...standard, ...fill(claims, email), ...changes.get(email) };
    return key.sign(payload);
  }

  async function tokens(grant: Grant) {
    const { email, scope, nonce } = grant;
    const wants =
      shape.refresh === 'always' || (shape.refresh === 'offline_access' && scope.includes('offline_access'));
    const refresh = randomUUID();
    if (wants) grants.set(refresh, grant);
    return {
      token_type: 'Bearer',
      expires_in: shape.lifetime,
      scope,
      id_token: await sign({ ...shape.idToken, ...(nonce !== null && { nonce }) }, email),
      access_token: shape.accessToken ? await sign(shape.accessToken, email) : `opaque.${email}`,
      ...(wants && { refresh_token: refresh }),
    };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', origin);
    const json = (status: number, body: object) =>
      response
        .writeHead(status, {
          'content-type': 'application/json',
          'access-control-allow-origin': request.headers.origin ?? '*',
          'access-control-allow-headers': 'authorization',
        })
        .end(JSON.stringify(body));
    if (request.method === 'OPTIONS') return void json(200, {});
    if (url.pathname === `${new URL(issuer).pathname.replace(/\/$/, '')}/.well-known/openid-configuration`) {
      return void json(200, discovery);
    }
    // Cognito's API, which creates the account of an invited person.
    if (request.headers['x-amz-target'] !== undefined) return void json(200, { User: {} });
    const endpoint = paths[url.pathname];
    requests.push(endpoint ?? url.pathname);
    if (endpoint === 'jwks_uri') return void json(200, { keys: [{ ...key.jwk, ...shape.key }] });
    if (endpoint === 'authorization_endpoint') return authorize(url, request, response);
    if (endpoint === 'token_endpoint') {
      const form = new URLSearchParams(await read(request));
      const problem = refusal(form);
      if (problem) return void json(problem.error === 'invalid_client' ? 401 : 400, problem);
      const code = form.get('code') ?? form.get('refresh_token') ?? '';
      const grant = grants.get(code) as Grant;
      grants.delete(code);
      return void json(200, await tokens(grant));
    }
    if (endpoint === 'userinfo_endpoint') {
      const email = /opaque\.(\S+)$/.exec(request.headers.authorization ?? '')?.[1];
      return void (email ? json(200, { ...fill(shape.userinfo, email), ...changes.get(email) }) : json(401, {}));
    }
    if (endpoint === 'end_session_endpoint') {
      const target = url.searchParams.get('post_logout_redirect_uri') ?? url.searchParams.get('logout_uri') ?? '/';
      return void response.writeHead(302, { 'set-cookie': 'person=; Max-Age=0; Path=/', location: target }).end();
    }
    response.writeHead(404).end();
  }

  function authorize(url: URL, request: IncomingMessage, response: ServerResponse): void {
    const asked = url.searchParams;
    const redirect = asked.get('redirect_uri') ?? '';
    if (asked.get('client_id') !== clientId || redirect !== `${publicUrl}/signed-in`) {
      return void response.writeHead(400).end('unknown client or redirect address');
    }
    const back = (values: Record<string, string>) =>
      response
        .writeHead(302, {
          location: `${redirect}?${new URLSearchParams({ ...values, state: asked.get('state') ?? '' })}`,
          ...(values.code !== undefined && { 'set-cookie': `person=${email}; Path=/; HttpOnly` }),
        })
        .end();
    const email = asked.get('person') ?? /(?:^|; )person=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
    const scope = asked.get('scope') ?? '';
    const supported = discovery.scopes_supported;
    const isKnown = !Array.isArray(supported) || scope.split(' ').every((one) => supported.includes(one));
    if (!isKnown) return void back({ error: 'invalid_scope' });
    const challenge = asked.get('code_challenge');
    if (asked.get('response_type') !== 'code' || challenge === null || asked.get('code_challenge_method') !== 'S256') {
      return void back({ error: 'invalid_request' });
    }
    if (!email) {
      const hidden = [...asked]
        .map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`)
        .join('');
      const page = `<!doctype html><title>Sign in</title><form>${hidden}<label>E-mail <input name="person"></label><button>Sign in</button></form>`;
      return void response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    }
    const code = randomUUID();
    grants.set(code, { email, challenge, redirect, scope, nonce: asked.get('nonce') });
    back({ code });
  }

  function refusal(form: URLSearchParams): { error: string; error_description?: string } | undefined {
    if (form.get('client_id') !== clientId) return { error: 'invalid_client' };
    if (shape.needsSecret) return { error: 'invalid_request', error_description: 'client_secret is missing.' };
    const isCode = form.get('grant_type') === 'authorization_code';
    const grant = grants.get(form.get(isCode ? 'code' : 'refresh_token') ?? '');
    if (!grant) return { error: 'invalid_grant' };
    if (!isCode) return undefined;
    const proof = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isProven = proof === grant.challenge && form.get('redirect_uri') === grant.redirect;
    return isProven ? undefined : { error: 'invalid_grant' };
  }

  return {
    origin,
    issuer,
    shape,
    changes,
    requests,
    count: (endpoint: string) => requests.filter((one) => one === endpoint).length,
    variables: { IDENTITY_PROVIDER: 'oidc', OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, ...shape.options },
    /** An ID token as the provider would issue it now. */
    idToken: (email: string, claims: Claims = {}) => sign({ ...shape.idToken, ...claims }, email),
    externalIdOf: (email: string) => (shape.externalId === undefined ? undefined : fill(shape.externalId, email)),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
