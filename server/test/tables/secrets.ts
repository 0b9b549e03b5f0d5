import { expect } from 'vitest';
import { isSecretValue } from '../../credentials.ts';
import type { Scenario } from '../scenarios.ts';
import type { World } from '../world.ts';

const issueFresh = async ({ service, ours }: World) =>
  (await service.call('POST', '/v1/organizations/me/secrets', { as: ours.owner })).body;

export const SECRETS: readonly Scenario[] = [
  {
    route: 'issueSecret',
    name: 'the default plane is live',
    status: 201,
    body: ({ ours }) => ({
      secret: { organizationId: ours.organizationId, secretEnvironment: 'live', status: 'active' },
    }),
    after(_, { body }) {
      expect(isSecretValue(body.value)).toBe(true);
      expect(body.value).toMatch(/^sk_live_/);
      expect(body.secretId).toBe(body.secret.secretId);
      expect(body.secret.prefix).toBe(body.value.slice(0, 12));
      expect(body.secret.lastFour).toBe(body.value.slice(-4));
      expect(body.secret).not.toHaveProperty('name');
    },
  },
  {
    route: 'issueSecret',
    name: 'a secret with a name on the test plane',
    ask: { body: { name: 'Build server', secretEnvironment: 'test' } },
    status: 201,
    body: () => ({ secret: { name: 'Build server', secretEnvironment: 'test' } }),
    after: (_, { body }) => expect(body.value).toMatch(/^sk_test_/),
  },
  { route: 'issueSecret', name: 'unknown fields are ignored', ask: { body: { later: [1] } }, status: 201 },
  {
    route: 'issueSecret',
    name: 'an unknown plane',
    ask: { body: { secretEnvironment: 'staging' } },
    status: 400,
    code: 'validation_failed',
    says: /^\/secretEnvironment /,
  },
  {
    route: 'issueSecret',
    name: 'a name of 201 characters',
    ask: { body: { name: 'x'.repeat(201) } },
    status: 400,
    says: /^\/name /,
  },
  { route: 'issueSecret', name: 'an empty name', ask: { body: { name: '' } }, status: 400, says: /^\/name / },
  {
    route: 'listSecrets',
    name: 'revoked secrets are included, newest first, without values',
    status: 200,
    without: ({ ours, revokedSecret }) => [ours.live, ours.test, revokedSecret, ours.live.slice(12, -4), 'hash'],
    after(_, { body }) {
      const ids = body.secrets.map(({ secretId }: { secretId: string }) => secretId);
      expect(ids).toEqual([...ids].sort().reverse());
      expect(body.secrets.map(({ status }: { status: string }) => status)).toContain('revoked');
    },
  },
  {
    route: 'listSecrets',
    name: 'a use a moment ago is shown',
    ask: async (world) => {
      const { secretId, value } = await issueFresh(world);
      await world.service.call('GET', '/v1/secret', { as: value });
      return { headers: { 'x-id': secretId } };
    },
    status: 200,
    body: ({ service }, { headers }) => ({
      secrets: expect.arrayContaining([
        expect.objectContaining({
          secretId: headers?.['x-id'],
          lastUsedAt: new Date(service.clock.now).toISOString(),
        }),
      ]),
    }),
  },
  {
    route: 'revokeSecret',
    name: 'a revoked secret is refused from then on',
    ask: async (world) => {
      const { secretId, value } = await issueFresh(world);
      expect((await world.service.call('GET', '/v1/secret', { as: value })).status).toBe(200);
      return { params: { secretId }, headers: { 'x-value': value } };
    },
    status: 200,
    body: (_, { params }) => ({ secret: { secretId: params?.secretId, status: 'revoked' } }),
    async after({ service }, { body }, { headers }) {
      expect(body.secret.revokedAt).toBeDefined();
      const refused = await service.call('GET', '/v1/secret', { as: headers?.['x-value'] });
      expect(refused).toMatchObject({ status: 401, body: { code: 'secret_revoked' } });
    },
  },
  {
    route: 'revokeSecret',
    name: 'a repeated revocation gets the same answer',
    ask: async (world) => {
      const { secretId } = await issueFresh(world);
      const as = world.ours.owner;
      const { text } = await world.service.call('DELETE', `/v1/organizations/me/secrets/${secretId}`, { as });
      world.service.clock.now += 1_000;
      return { params: { secretId }, headers: { 'x-first': text } };
    },
    status: 200,
    after: (_, { text }, { headers }) => expect(text).toBe(headers?.['x-first']),
  },
  {
    route: 'revokeSecret',
    name: 'an unknown secret',
    ask: { params: { secretId: 'sec_none' } },
    status: 404,
    code: 'not_found',
  },
];
