import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES } from '../../test/engines.ts';
import { type Cognito, startCognito } from './cognito.ts';
import { FAULTS, type Fault } from './cognito-front.ts';
import { PASSWORD, type Service, startService } from './embedded.ts';

const PUBLIC_URL = 'http://127.0.0.1:4400';

let cognito: Cognito;
let service: Service;
let people = 0;

beforeAll(async () => {
  cognito = await startCognito(PUBLIC_URL);
}, 60_000);
afterAll(() => cognito.stop());
afterEach(async () => {
  cognito.fault = undefined;
  cognito.isAway = false;
  await service?.dispose();
});

const start = (engine: (typeof ENGINES)[number] = 'sqlite', variables = {}) =>
  startService(engine, { PUBLIC_URL, ...cognito.variables, ...variables }).then((started) => {
    service = started;
  });

async function call(method: string, path: string, token: string, body?: object) {
  const headers = {
    authorization: `Bearer ${token}`,
    connection: 'close',
    ...(body && { 'content-type': 'application/json' }),
  };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(service.origin + path, init);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

/** A new person with an account in the pool, who has just signed in. */
async function newPerson() {
  const email = `person-${++people}@example.com`;
  await cognito.createPerson(email, PASSWORD);
  return { email, ...(await cognito.signIn(email, PASSWORD)) };
}

const createOrganization = (token: string) => call('POST', '/v1/organizations', token, { name: 'Acme' });
const invite = (token: string, email: string) => call('POST', '/v1/organizations/me/members', token, { email });
const tenantOf = async (email: string) => (await cognito.find(email))['custom:organizationId'];

describe.each(ENGINES)('with a user pool, on %s', (engine) => {
  test('a person creates an organization, which the pool stores, and invites another person, to whom the pool sends a mail', async () => {
    await start(engine);
    const ada = await newPerson();
    const created = await createOrganization(ada.IdToken);
    expect(created).toMatchObject({ status: 201, body: { name: 'Acme' } });
    expect(await tenantOf(ada.email)).toBe(created.body.organizationId);

    const email = `invited-${engine}@example.com`;
    const mails = cognito.mails();
    expect(await invite(ada.IdToken, email)).toMatchObject({ status: 201, body: { email, status: 'invited' } });
    await expect.poll(cognito.mails).toBe(mails + 1);
    expect(await cognito.find(email)).toMatchObject({ status: 'FORCE_CHANGE_PASSWORD', email_verified: 'true' });

    await cognito.setPassword(email, PASSWORD);
    const { IdToken } = await cognito.signIn(email, PASSWORD);
    const me = await call('GET', '/v1/me', IdToken);
    expect(me.body).toMatchObject({ email, role: 'member', organization: { name: 'Acme' } });
  });
});

describe('tokens', () => {
  test('of both kinds identify the same person, with an e-mail', async () => {
    await start();
    const { email, IdToken, AccessToken } = await newPerson();
    const [byId, byAccess] = await Promise.all([IdToken, AccessToken].map((token) => service.identity.verify(token)));
    expect(byId).toMatchObject({ issuer: cognito.issuer, email, emailVerified: true });
    expect(byAccess).toMatchObject({ subject: byId?.subject, username: byId?.username, email, emailVerified: true });
  });

  const of = (change: object) => ({ iss: cognito.issuer, sub: 'x', exp: Date.now() / 1000 + 600, ...change });
  const strange: Record<string, () => object> = {
    'without a use': () => ({ aud: cognito.clientId }),
    'for another use': () => ({ aud: cognito.clientId, token_use: 'refresh' }),
    'with a use that is not a text': () => ({ aud: cognito.clientId, token_use: ['id'] }),
    'for the use of IDs, of another client': () => ({ aud: 'other', client_id: cognito.clientId, token_use: 'id' }),
    'for the use of IDs, with a client_id alone': () => ({ client_id: cognito.clientId, token_use: 'id' }),
    'for access, of another client': () => ({ client_id: 'other', token_use: 'access' }),
    'for access, with an audience': () => ({ aud: cognito.clientId, client_id: cognito.clientId, token_use: 'access' }),
    'of another pool': () => ({ aud: cognito.clientId, token_use: 'id', iss: `${cognito.endpoint}/local_other` }),
  };
  test.each(Object.entries(strange))('%s are refused', async (_name, change) => {
    await start();
    const token = await cognito.sign(of(change()));
    await expect(service.identity.verify(token)).rejects.toMatchObject({ code: 'token_invalid', status: 401 });
  });

  test('stay valid while Cognito is away, and tokens with new keys are accepted once it is back', async () => {
    await start();
    const { email, IdToken } = await newPerson();
    await service.identity.verify(IdToken);
    await cognito.rotateKeys();
    await service.identity.verify((await cognito.signIn(email, PASSWORD)).IdToken);
    await cognito.replaceKeys();
    const renewed = await cognito.signIn(email, PASSWORD);
    cognito.isAway = true;
    service.clock.ahead = 11 * 60_000;
    expect(await service.identity.verify(IdToken)).toMatchObject({ email });
    await expect(service.identity.verify(renewed.IdToken)).rejects.toMatchObject({ status: 401 });
    cognito.isAway = false;
    service.clock.ahead += 31_000;
    expect(await service.identity.verify(renewed.IdToken)).toMatchObject({ email });
    await expect(service.identity.verify(IdToken)).rejects.toMatchObject({ status: 401 });
  });
});

describe.each(Object.keys(FAULTS) as Fault[])('where Cognito %s', (fault) => {
  test('a new organization is kept, and sent to Cognito at the next sign-in', async () => {
    await start();
    const { email, IdToken } = await newPerson();
    cognito.fault = fault;
    const refused = await createOrganization(IdToken);
    expect(refused).toMatchObject({ status: 502, body: { code: 'idp_assignment_failed' } });
    expect(JSON.stringify(refused.body)).not.toContain('secret-text');
    expect(await tenantOf(email)).toBeUndefined();
    cognito.fault = undefined;
    const { body } = await call('GET', '/v1/me', IdToken);
    expect(body).toMatchObject({ role: 'owner', organization: { name: 'Acme' } });
    expect(await tenantOf(email)).toBe(body.organization.organizationId);
    const told = cognito.count('AdminUpdateUserAttributes');
    await call('GET', '/v1/me', IdToken);
    expect(cognito.count('AdminUpdateUserAttributes')).toBe(told);
  });

  test('a failed invitation leaves no invitation behind, and works later', async () => {
    await start();
    const { IdToken } = await newPerson();
    await createOrganization(IdToken);
    const email = `late-${++people}@example.com`;
    cognito.fault = fault;
    const refused = await invite(IdToken, email);
    expect(refused).toMatchObject({ status: 502, body: { code: 'idp_invite_failed' } });
    expect(JSON.stringify(refused.body)).not.toContain('secret-text');
    const { body } = await call('GET', '/v1/organizations/me/members', IdToken);
    expect(body.users).toHaveLength(1);
    cognito.fault = undefined;
    expect(await invite(IdToken, email)).toMatchObject({ status: 201 });
  });
});

test('the founder of an organization can use it while the pool cannot be informed', async () => {
  await start();
  const { email, IdToken } = await newPerson();
  cognito.fault = 'answers 500';
  await createOrganization(IdToken);
  expect(await call('GET', '/v1/me', IdToken)).toMatchObject({ status: 200, body: { role: 'owner' } });
  expect(await call('GET', '/v1/organizations/me/members', IdToken)).toMatchObject({ status: 200 });
  expect(await tenantOf(email)).toBeUndefined();
});

describe('an invitation', () => {
  test('with a lost answer is sent again, and counts once', async () => {
    await start();
    const { IdToken } = await newPerson();
    await createOrganization(IdToken);
    cognito.losesAnswer = true;
    expect(await invite(IdToken, `lost-${++people}@example.com`)).toMatchObject({ status: 201 });
    expect((await call('GET', '/v1/organizations/me/members', IdToken)).body.users).toHaveLength(2);
  });

  test('is repeated by Cognito to people who have not signed in, and mailed by the service to people who have', async () => {
    await start();
    const { IdToken } = await newPerson();
    await createOrganization(IdToken);
    const { body } = await invite(IdToken, `waiting-${++people}@example.com`);
    const asked = cognito.count('AdminCreateUser');
    const again = await call('POST', `/v1/organizations/me/members/${body.userId}/invitation`, IdToken);
    expect(again.status).toBe(200);
    expect(cognito.count('AdminCreateUser')).toBe(asked + 2);

    const bob = await newPerson();
    expect(await invite(IdToken, bob.email)).toMatchObject({ status: 201 });
    expect(service.mails()).toMatchObject([{ to: bob.email, link: `${PUBLIC_URL}/` }]);
    expect((await call('GET', '/v1/me', bob.IdToken)).body).toMatchObject({ role: 'member' });
  });
});

describe('the dashboard receives', () => {
  const config = async () => (await fetch(`${service.origin}/config`, { headers: { connection: 'close' } })).json();

  test('the pool, its region and the domain of its pages', async () => {
    await start();
    const told = { idpUserPoolId: cognito.userPoolId, idpClientId: cognito.clientId, idpRegion: 'local' };
    expect(await config()).toMatchObject({ ...told, idpDomain: cognito.domain });
    expect(await service.identity.origins()).toEqual([cognito.endpoint, cognito.domain]);
  });

  test('without a configured domain, the issuer, which publishes its pages', async () => {
    await start('sqlite', { COGNITO_DOMAIN: undefined });
    expect(await config()).toMatchObject({ idpDomain: cognito.issuer });
    expect(await service.identity.origins()).toEqual([cognito.endpoint, cognito.domain]);
    const { email, AccessToken } = await newPerson();
    expect(await service.identity.verify(AccessToken)).toMatchObject({ email });
  });
});
