import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { decodeJwt, type JWTPayload } from 'jose';
import { createKey } from './provider.ts';

export interface FrontOptions {
  /** Where cognito-local listens. */
  emulator: string;
  userPoolId: string;
  logoutUris: readonly string[];
}

type Answer = (response: ServerResponse) => void;

const reply =
  (status: number, body: string, type = 'application/x-amz-json-1.1'): Answer =>
  (response) =>
    void response.writeHead(status, { 'content-type': type }).end(body);

/** The faults that the interface can have instead of an answer. */
export const FAULTS = {
  'answers 500': reply(500, '{"__type":"InternalErrorException","message":"secret-text"}'),
  'is throttling': reply(400, '{"__type":"TooManyRequestsException","message":"secret-text"}'),
  'refuses the credentials': reply(400, '{"__type":"AccessDeniedException","message":"secret-text"}'),
  'answers HTML': reply(200, '<html>secret-text</html>', 'text/html'),
  'answers half of its JSON': reply(200, '{"User":{"Username":'),
  'is behind a broken proxy': reply(502, '<html>secret-text</html>', 'text/html'),
  'cuts the connection': (response) => void response.destroy(),
  'never answers': () => undefined,
  'stops in the middle of an answer': (response) =>
    void response.writeHead(200, { 'content-length': '1000' }).write('{"User":'),
} satisfies Record<string, Answer>;
export type Fault = keyof typeof FAULTS;

const SCOPES = new Set(['openid', 'email', 'phone', 'profile', 'aws.cognito.signin.user.admin']);

/**
 * Adds what cognito-local lacks of Amazon Cognito: rotating keys, an `auth_time` that survives a renewal, scopes in access
 * tokens, `/logout`, userinfo, repeated mails, and discovery. It forwards everything else to cognito-local. It can also fail.
 */
export async function startCognitoFront({ emulator, userPoolId, logoutUris }: FrontOptions) {
  const newKey = () => createKey(crypto.randomUUID(), 'RS256');
  /** The first key signs; the other one is only announced. */
  let keys = await Promise.all([newKey(), newKey()]);
  const state = {
    /** How the interface fails, if it does. */
    fault: undefined as Fault | undefined,
    /** The front executes the next request, and loses its answer. */
    losesAnswer: false,
    /** Whether keys, discovery and sign-in pages answer. */
    isAway: false,
    /** The requests to the interface and to the addresses. */
    requests: [] as string[],
    /** Signs with the announced key from now on. */
    async rotateKeys() {
      keys = [keys[1], await newKey()];
    },
    /** Signs with keys that were never announced. */
    async replaceKeys() {
      keys = await Promise.all([newKey(), newKey()]);
    },
    sign: (payload: JWTPayload) => keys[0].sign(payload),
  };
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  // Like Amazon's, the pages have another address than the interface.
  const domain = `http://localhost:${port}`;
  const issuer = `${endpoint}/${userPoolId}`;

  /** Signs a token again, as Cognito would have made it. */
  async function signAnew(token: string, signedInAt?: number): Promise<string> {
    const { scope, auth_time, ...rest } = decodeJwt(token);
    const scopes = scope === undefined ? {} : { scope: 'openid email profile' };
    return keys[0].sign({ ...rest, ...scopes, iss: issuer, auth_time: signedInAt ?? auth_time });
  }

  /** When the holder of each refresh token signed in. */
  const signIns = new Map<string, number>();

  async function withOwnTokens(text: string, renewing?: string): Promise<string> {
    const body = JSON.parse(text);
    const tokens = body.AuthenticationResult ?? body;
    for (const name of ['IdToken', 'AccessToken', 'id_token', 'access_token']) {
      if (name in tokens) tokens[name] = await signAnew(tokens[name], signIns.get(renewing ?? ''));
    }
    if (tokens.refresh_token) signIns.set(tokens.refresh_token, Number(decodeJwt(tokens.id_token).auth_time));
    return JSON.stringify(body);
  }

  async function passOn(request: IncomingMessage, body: Buffer) {
    const headers = { 'content-type': request.headers['content-type'] ?? '', 'x-amz-target': targetOf(request) };
    const init: RequestInit = { method: request.method ?? 'GET', headers, redirect: 'manual' };
    const passed = await fetch(
      emulator + request.url,
      body.length > 0 ? { ...init, body: new Uint8Array(body) } : init,
    );
    return { passed, text: await passed.text() };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const url = new URL(request.url ?? '/', endpoint);
    const name = targetOf(request).split('.')[1] ?? url.pathname;
    state.requests.push(name);
    response.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', '*');
    const own = OWN[url.pathname] ?? OWN[name];
    if (url.pathname === '/' ? state.fault : state.isAway)
      return FAULTS[state.fault ?? 'cuts the connection'](response);
    if (own) return own(response, { url, body, request });
    await forward(request, body, response);
  }

  async function forward(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const { passed, text } = await passOn(request, body);
    if (state.losesAnswer) {
      state.losesAnswer = false;
      return void response.destroy();
    }
    const givesTokens = passed.ok && /id_token|IdToken/.test(text);
    const renewing = new URLSearchParams(body.toString()).get('refresh_token') ?? undefined;
    const location = passed.headers.get('location');
    response.writeHead(passed.status, {
      'content-type': passed.headers.get('content-type') ?? 'application/json',
      ...(location !== null && { location }),
    });
    response.end(givesTokens ? await withOwnTokens(text, renewing) : text);
  }

  type Asked = { url: URL; body: Buffer; request: IncomingMessage };
  const json = (response: ServerResponse, value: unknown, status = 200) =>
    reply(status, JSON.stringify(value), 'application/json')(response);

  const OWN: Record<string, (response: ServerResponse, asked: Asked) => void | Promise<void>> = {
    [`/${userPoolId}/.well-known/jwks.json`]: (response) => json(response, { keys: keys.map(({ jwk }) => jwk) }),
    [`/${userPoolId}/.well-known/openid-configuration`]: (response) =>
      json(response, {
        issuer,
        jwks_uri: `${issuer}/.well-known/jwks.json`,
        authorization_endpoint: `${domain}/oauth2/authorize`,
        token_endpoint: `${domain}/oauth2/token`,
        userinfo_endpoint: `${domain}/oauth2/userInfo`,
        revocation_endpoint: `${domain}/oauth2/revoke`,
        end_session_endpoint: `${domain}/logout`,
        scopes_supported: ['openid', 'email', 'phone', 'profile'],
      }),
    '/logout': (response, { url }) => {
      const uri = url.searchParams.get('logout_uri') ?? '';
      if (!logoutUris.includes(uri) || !url.searchParams.has('client_id'))
        return reply(400, 'Required parameters missing', 'text/plain')(response);
      response.writeHead(302, { location: uri }).end();
    },
    '/oauth2/userInfo': async (response, { request }) => {
      const { sub, username } = decodeJwt(String(request.headers.authorization).replace('Bearer ', ''));
      const { UserAttributes } = await adminGetUser(String(username));
      const { email, email_verified } = Object.fromEntries(UserAttributes.map(({ Name, Value }) => [Name, Value]));
      json(response, { sub, username, email, email_verified });
    },
    AdminCreateUser: async (response, { body, request }) => {
      const { MessageAction, Username } = JSON.parse(body.toString());
      if (MessageAction !== 'RESEND') return forward(request, body, response);
      const { UserStatus } = await adminGetUser(Username);
      if (UserStatus === 'FORCE_CHANGE_PASSWORD') return json(response, { User: { Username, UserStatus } });
      json(response, { __type: 'UnsupportedUserStateException', message: 'Resend not possible.' }, 400);
    },
    '/oauth2/authorize': (response, { url, body, request }) => {
      const unknown = (url.searchParams.get('scope') ?? '').split(' ').filter((scope) => scope && !SCOPES.has(scope));
      if (unknown.length === 0) return forward(request, body, response);
      const query = new URLSearchParams({ error: 'invalid_scope', state: url.searchParams.get('state') ?? '' });
      response.writeHead(302, { location: `${url.searchParams.get('redirect_uri')}?${query}` }).end();
    },
  };

  const adminGetUser = (Username: string) =>
    ask<PoolUser>(emulator, 'AdminGetUser', { UserPoolId: userPoolId, Username });

  return Object.assign(state, {
    endpoint,
    domain,
    issuer,
    count: (name: string) => state.requests.filter((request) => request === name).length,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

const targetOf = (request: IncomingMessage): string => String(request.headers['x-amz-target'] ?? '');

export interface PoolUser {
  UserStatus: string;
  UserAttributes: { Name: string; Value: string }[];
}

/** Calls the interface of Cognito. */
export async function ask<Answer>(address: string, target: string, input: object): Promise<Answer> {
  const headers = {
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': `AWSCognitoIdentityProviderService.${target}`,
  };
  const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify(input) });
  if (!response.ok) throw new Error(`${target}: ${await response.text()}`);
  return (await response.json()) as Answer;
}
