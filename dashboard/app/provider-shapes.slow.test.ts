import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { SHAPES, type Shape, type StandIn, startStandIn } from '../../server/identity/test/stand-in.ts';
import { type Folder, makeFolder } from '../e2e/harness/folders.ts';
import { type Service, startService } from '../e2e/harness/service.ts';
import { openPlainTab, type PlainTab } from '../test/tab-without-browser.ts';
import { type Auth, createAuth } from './auth.ts';

let provider: StandIn;
let service: Service;
let folder: Folder;
let publicUrl: string;
const send = globalThis.fetch;

afterEach(() => {
  vi.unstubAllGlobals();
});

async function stop(): Promise<void> {
  await service.stop();
  await provider.stop();
  folder.remove();
}

async function start(shape: Shape): Promise<void> {
  folder = makeFolder();
  service = await startService(folder.path, async (url) => {
    publicUrl = url;
    provider = await startStandIn(shape, url);
    return provider.variables;
  });
}

interface SignedIn {
  tab: PlainTab;
  auth: Auth;
  token: string;
}

/** Signs a person in with the code of the dashboard. The tab is the only one from now on. */
async function signIn(email: string): Promise<SignedIn> {
  vi.unstubAllGlobals();
  const tab = openPlainTab(publicUrl, email);
  const auth = await createAuth();
  void auth.signIn('/members');
  await tab.visit(await tab.left());
  expect(await auth.finishSignIn()).toBe('/members');
  return { tab, auth, token: await auth.token() };
}

/** Makes the token expire, so that the next request renews it. */
function expire(): void {
  const name = window.sessionStorage.key(0) ?? '';
  const key = name.startsWith('oidc.user') ? name : (window.sessionStorage.key(1) ?? '');
  const user = JSON.parse(window.sessionStorage.getItem(key) ?? '');
  window.sessionStorage.setItem(key, JSON.stringify({ ...user, profile: { ...user.profile, exp: 1 } }));
}

async function call(token: string, method: string, path: string, body?: object) {
  const type = path.startsWith('/scim') ? 'application/scim+json' : 'application/json';
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': type }) };
  const reply = await send(publicUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await reply.text();
  return { status: reply.status, body: text === '' ? undefined : JSON.parse(text) };
}

const roleOf = async (token: string) => (await call(token, 'GET', '/v1/me')).body.role;

const signInFounder = () => signIn('nina@contoso.example');

const invite = (founder: SignedIn, email: string) =>
  call(founder.token, 'POST', '/v1/organizations/me/members', { email });

/** The request with which Microsoft Entra and Okta create a user. */
async function provision(founder: SignedIn, email: string) {
  const { body: directory } = await call(founder.token, 'POST', '/v1/organizations/me/directory/token', {});
  const created = await call(directory.value, 'POST', '/scim/v2/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: email,
    externalId: provider.externalIdOf(email),
    active: true,
    emails: [{ primary: true, type: 'work', value: email }],
  });
  expect(created.status).toBe(201);
  const end = { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] };
  return { deactivate: () => call(directory.value, 'PATCH', `/scim/v2/Users/${created.body.id}`, end) };
}

describe.each(SHAPES.filter(({ needsSecret }) => needsSecret))('with $name', (shape) => {
  beforeAll(() => start(shape));
  afterAll(stop);

  test('a sign-in ends with an error, because a browser has no client secret', async () => {
    await expect(signInFounder()).rejects.toThrow('client_secret is missing');
  });
});

describe.each(SHAPES.filter(({ needsSecret }) => !needsSecret))('with $name', (shape) => {
  beforeAll(async () => {
    await start(shape);
    const { token } = await signInFounder();
    expect((await call(token, 'POST', '/v1/organizations', { name: 'Contoso' })).status).toBe(201);
    vi.unstubAllGlobals();
  });
  afterAll(stop);

  test('an invited person signs in and joins if their e-mail is verified', async () => {
    const founder = await signInFounder();
    expect((await invite(founder, 'omar@contoso.example')).status).toBe(201);
    const omar = await signIn('omar@contoso.example');
    expect(await roleOf(omar.token)).toBe(shape.verifies ? 'member' : undefined);
  });

  test('an expiring sign-in is renewed for the same person', async () => {
    const { auth, token } = await signInFounder();
    const asked = provider.count('authorization_endpoint');
    expire();
    const renewed = await auth.token();
    expect(renewed).not.toBe(token);
    expect(await roleOf(renewed)).toBe('owner');
    expect(provider.count('authorization_endpoint')).toBe(asked);
  });

  test('signing out ends the sign-in of the provider, if it has an address for it', async () => {
    const { tab, auth } = await signInFounder();
    const before = provider.count('end_session_endpoint');
    void auth.signOut();
    expect(await tab.visit(await tab.left())).toBe(`${publicUrl}/`);
    expect(provider.count('end_session_endpoint') - before).toBe('end_session_endpoint' in shape.discovery ? 1 : 0);
    expect(window.sessionStorage.getItem('signed-out')).toBe('yes');
  });

  test('a person who is removed has no access with the same token', async () => {
    const founder = await signInFounder();
    const email = 'ruth@contoso.example';
    const { body: invited } = await invite(founder, email);
    const { token } = await signIn(email);
    // A member has the id that the person had before the invitation.
    const { role, userId: own } = (await call(token, 'GET', '/v1/me')).body;
    const userId = role === undefined ? invited.userId : own;
    expect((await call(founder.token, 'DELETE', `/v1/organizations/me/members/${userId}`)).status).toBe(200);
    expect(await call(token, 'GET', '/v1/organizations/me')).toMatchObject({ status: 403 });
  });

  if (shape.externalId === undefined) return;
  test('a person whom the directory creates joins, and leaves with it', async () => {
    const founder = await signInFounder();
    const { deactivate } = await provision(founder, 'pia@contoso.example');
    const { token } = await signIn('pia@contoso.example');
    expect(await roleOf(token)).toBe('member');
    expect((await deactivate()).status).toBe(200);
    expect(await call(token, 'GET', '/v1/organizations/me')).toMatchObject({ status: 403 });
  });
});
