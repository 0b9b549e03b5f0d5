import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Config } from '../../config.ts';
import { ENGINES } from '../../test/engines.ts';
import { type Service, startService } from './embedded.ts';
import { type StandIn, shapeOf, startStandIn } from './stand-in.ts';

const PUBLIC_URL = 'http://127.0.0.1:4400';
const TENANT = '11112222-3333-4444-8555-666677778888';
const OTHER_TENANT = '99992222-3333-4444-8555-666677778888';

let entra: StandIn;
let service: Service;
beforeAll(async () => {
  entra = await startStandIn(shapeOf('Microsoft Entra, without an option'), PUBLIC_URL);
});
afterEach(() => service?.dispose());
afterAll(() => entra.stop());

const start = async (engine: 'sqlite' | 'postgres', options: Partial<Config> = {}): Promise<void> => {
  const provider: Partial<Config> = {
    IDENTITY_PROVIDER: 'oidc',
    OIDC_ISSUER: entra.issuer,
    OIDC_CLIENT_ID: entra.shape.clientId,
  };
  service = await startService(engine, { PUBLIC_URL, ...provider, ...options });
};

/** The tenant's own accounts have the name as their address. */
const TRUST = { OIDC_EMAIL_CLAIM: 'preferred_username', OIDC_TRUST_EMAIL: 'issuer' } as const;

async function call(token: string, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${token}`, connection: 'close', 'content-type': 'application/json' };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  if (!body) headers['content-type'] = 'text/plain';
  const response = await fetch(service.origin + path, init);
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

const me = async (token: string) => (await call(token, 'GET', '/v1/me')).body;

/** A founder whose token has a verified e-mail, and the token of the directory. */
async function found(name = 'nina') {
  const email = `${name}@contoso.example`;
  const token = await entra.idToken(email, { email, xms_edov: true });
  expect((await call(token, 'POST', '/v1/organizations', { name })).status).toBe(201);
  return { token, directory: await issue(token) };
}

const issue = async (founder: string): Promise<string> =>
  (await call(founder, 'POST', '/v1/organizations/me/directory/token', {})).body.value;

const create = (directory: string, email: string, externalId = entra.externalIdOf(email)) =>
  call(directory, 'POST', '/scim/v2/Users', {
    userName: email,
    externalId,
    active: true,
    emails: [{ primary: true, type: 'work', value: email }],
  });

const change = (directory: string, id: string, value: object) =>
  call(directory, 'PATCH', `/scim/v2/Users/${id}`, { Operations: [{ op: 'replace', value }] });

const OMAR = 'omar@contoso.example';

describe.each(ENGINES)('a person of the directory of Microsoft Entra on %s', (engine) => {
  test('joins by the object id, without any e-mail in the token', async () => {
    await start(engine);
    const { directory } = await found();
    const { body: user } = await create(directory, OMAR);
    const omar = await entra.idToken(OMAR);
    expect(await me(omar)).toMatchObject({ role: 'member', emailVerified: false });
    expect((await change(directory, user.id, { active: false })).body.active).toBe(false);
    expect((await call(omar, 'GET', '/v1/organizations/me')).status).toBe(403);
    await change(directory, user.id, { active: true });
    expect(await me(omar)).toMatchObject({ role: 'member' });
  });

  test('who signed in before the directory created them joins with the next request', async () => {
    await start(engine);
    const { directory } = await found();
    const omar = await entra.idToken(OMAR);
    const before = await me(omar);
    expect(before).not.toHaveProperty('role');
    await create(directory, OMAR);
    expect(await me(omar)).toMatchObject({ userId: before.userId, role: 'member' });
  });

  test('stays the same member when the directory changes the e-mail', async () => {
    await start(engine);
    const { directory, token } = await found();
    const { body: user } = await create(directory, OMAR);
    const omar = await entra.idToken(OMAR);
    const { userId } = await me(omar);
    await change(directory, user.id, { emails: [{ primary: true, type: 'work', value: 'omar.new@contoso.example' }] });
    expect(await me(omar)).toMatchObject({ userId, role: 'member' });
    const { body } = await call(token, 'GET', '/v1/organizations/me/members');
    expect(body.users).toHaveLength(2);
    expect((await change(directory, user.id, { active: false })).body.active).toBe(false);
    expect((await call(omar, 'GET', '/v1/organizations/me')).status).toBe(403);
  });

  test('who founded the organization without an e-mail is no second member', async () => {
    await start(engine, { FOUNDERS: 'anyone' });
    const nina = await entra.idToken('nina@contoso.example');
    expect((await call(nina, 'POST', '/v1/organizations', { name: 'Contoso' })).status).toBe(201);
    const directory = await issue(nina);
    expect((await create(directory, 'nina@contoso.example')).body.active).toBe(true);
    const { body } = await call(nina, 'GET', '/v1/organizations/me/members');
    expect(body.users).toMatchObject([{ email: 'nina@contoso.example', role: 'owner', status: 'active' }]);
  });

  test('takes the address of nobody, whatever the directory of their organization says', async () => {
    await start(engine, { FOUNDERS: 'anyone', ADOPT_MEMBERS: 'verified-email' });
    const { directory } = await found('mallory');
    await create(directory, 'boss@contoso.example', entra.externalIdOf('accomplice@contoso.example'));
    expect(await me(await entra.idToken('accomplice@contoso.example'))).toMatchObject({ role: 'member' });

    const honest = await found('nina');
    const members = '/v1/organizations/me/members';
    expect((await call(honest.token, 'POST', members, { email: 'boss@contoso.example' })).status).toBe(201);
    const boss = await entra.idToken('boss@contoso.example', { email: 'boss@contoso.example', xms_edov: '1' });
    expect(await me(boss)).toMatchObject({ organization: { name: 'nina' }, role: 'member' });
  });

  test('whom two organizations provision chooses between them', async () => {
    await start(engine, { FOUNDERS: 'anyone' });
    const [one, two] = [await found('one'), await found('two')];
    await create(one.directory, OMAR);
    await create(two.directory, OMAR);
    const omar = await entra.idToken(OMAR);
    const { invitations, role } = await me(omar);
    expect(role).toBeUndefined();
    expect(invitations).toHaveLength(2);
    const { organizationId } = invitations[1];
    const accepted = await call(omar, 'POST', '/v1/me/membership', { organizationId });
    expect(accepted).toMatchObject({ status: 200, body: { organization: { organizationId } } });
  });

  test('whose later token proves the e-mail owns it from then on', async () => {
    await start(engine);
    const { directory } = await found();
    await create(directory, OMAR);
    await me(await entra.idToken(OMAR));
    expect(await me(await entra.idToken(OMAR, { email: OMAR, xms_edov: 1 }))).toMatchObject({ emailVerified: true });
    const other = await entra.idToken('other@contoso.example', { email: OMAR, xms_edov: true });
    expect(await me(other)).toMatchObject({ emailTaken: true });
  });
});

describe.each(ENGINES)('an invitation to an address of Microsoft Entra on %s', (engine) => {
  const invited = async (claims: Record<string, unknown>, options: Partial<Config> = TRUST) => {
    await start(engine, options);
    const { token } = await found();
    await call(token, 'POST', '/v1/organizations/me/members', { email: OMAR });
    return (await me(await entra.idToken('anybody@contoso.example', { preferred_username: OMAR, ...claims }))).role;
  };

  test('is accepted by the account of a trusted tenant', async () => {
    expect(await invited({})).toBe('member');
  });

  test.each([
    ['without trust', {}, { OIDC_EMAIL_CLAIM: 'preferred_username' } as const],
    ['with an e-mail that nobody verified', { email: OMAR }, {}],
    ['with an e-mail of an unverified domain', { email: OMAR, xms_edov: false }, {}],
    ['with such an e-mail in a trusted tenant', { email: OMAR, xms_edov: '0' }, TRUST],
    ['with a verified e-mail other than the name', { email: 'x@contoso.example', xms_edov: true }, {}],
    ['of a guest from another tenant', { idp: `https://sts.windows.net/${OTHER_TENANT}/` }, TRUST],
    ['of a guest with a personal account', { idp: 'live.com' }, TRUST],
    ['of a guest by the optional claim', { acct: 1 }, TRUST],
    ['of another tenant', { tid: OTHER_TENANT }, TRUST],
  ])('is not accepted by an account %s', async (_name, claims, options) => {
    expect(await invited(claims, options)).toBeUndefined();
  });
});

describe('a token of Microsoft Entra', () => {
  test.each([true, 'true', 1, '1'])('with xms_edov %j has a verified e-mail', async (xms_edov) => {
    await start('sqlite');
    const token = await entra.idToken(OMAR, { email: OMAR, xms_edov });
    expect(await service.identity.verify(token)).toMatchObject({ email: OMAR, emailVerified: true });
  });

  test('of the attacker’s own tenant is refused, whatever e-mail it has', async () => {
    await start('sqlite', TRUST);
    const { directory } = await found();
    await create(directory, OMAR);
    const iss = entra.issuer.replace(TENANT, OTHER_TENANT);
    const token = await entra.idToken(OMAR, { iss, tid: OTHER_TENANT, email: OMAR, email_verified: true });
    expect(await call(token, 'GET', '/v1/me')).toMatchObject({ status: 401, body: { code: 'token_invalid' } });
  });

  test('names a person of the directory only if its tenant is the issuer', async () => {
    await start('sqlite');
    const { directory } = await found();
    await create(directory, OMAR);
    const oid = entra.externalIdOf(OMAR);
    for (const tid of [OTHER_TENANT, undefined]) {
      const token = await entra.idToken('mallory@evil.example', { oid, tid });
      expect(await me(token)).not.toHaveProperty('role');
    }
  });
});
