import { expect } from 'vitest';
import { CATALOG } from '../../../contract/catalog.ts';
import { registerMachine } from '../factories.ts';
import type { Scenario } from '../scenarios.ts';

/** JSON text of an object of exactly this many bytes. */
const sized = (bytes: number) => ({ filler: 'f'.repeat(bytes - '{"filler":""}'.length) });
const nested = (levels: number) => JSON.parse('{"a":'.repeat(levels) + 1 + '}'.repeat(levels)) as object;

const WRONG_FIELDS: [field: string, name: string, value: unknown][] = [
  ['version', '65 characters', 'v'.repeat(65)],
  ['version', 'a number', 2],
  ['config', 'a list', []],
  ['config', 'null', null],
  ['config', 'a text', 'x'],
  ['config', 'one byte above 64 KiB', sized(64 * 1024 + 1)],
  ['config', '129 levels', nested(129)],
  ['config', '20,000 levels', undefined],
];

const refused = (route: 'registerAgent' | 'createInstallation' | 'updateInstallation'): Scenario[] =>
  WRONG_FIELDS.map(([field, name, value]) => ({
    route,
    name: `a ${field} of ${name}`,
    ask: {
      body:
        value === undefined
          ? `{"agentId":"amp","config":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`
          : { agentId: 'amp', [field]: value },
    },
    status: 400,
    code: 'validation_failed',
    says: new RegExp(`^/${field} `),
  }));

const wrongAgents = (route: 'registerAgent' | 'createInstallation'): Scenario[] =>
  [undefined, 'emacs', '', 'Codex', 7].map((agentId) => ({
    route,
    name: `the agent ${JSON.stringify(agentId)}`,
    ask: { body: { agentId } },
    status: 400,
    code: 'validation_failed',
    says: /^\/agentId /,
  }));

export const INSTALLATIONS: readonly Scenario[] = [
  {
    route: 'registerAgent',
    name: 'a new installation has its version and config',
    ask: { body: { agentId: 'cline', version: '1.2', config: { model: 'm', '': [1, { x: null }] } } },
    status: 201,
    body: ({ ours }) => ({
      installation: {
        organizationId: ours.organizationId,
        environmentId: ours.environmentId,
        agentId: 'cline',
        version: '1.2',
        config: { model: 'm', '': [1, { x: null }] },
        status: 'active',
      },
    }),
    after: (_, { body }) => expect(body.installationId).toBe(body.installation.installationId),
  },
  {
    route: 'registerAgent',
    name: 'a repeated registration finds the same installation and keeps the fields that it leaves out',
    ask: async ({ service, ours }) => {
      const url = `/v1/environments/${ours.environmentId}/agents`;
      const body = { agentId: 'droid', version: '1', config: { a: 1 } };
      const first = await service.call('POST', url, { as: ours.live, body });
      return { headers: { 'x-first': first.body.installationId }, body: { agentId: 'droid', version: '2' } };
    },
    status: 201,
    body: (_, { headers }) => ({
      installationId: headers?.['x-first'],
      installation: { version: '2', config: { a: 1 } },
    }),
  },
  {
    route: 'registerAgent',
    name: 'a disabled installation stays disabled',
    ask: { body: { agentId: 'goose' } },
    status: 201,
    body: ({ ours }) => ({ installationId: ours.disabledInstallationId, installation: { status: 'disabled' } }),
  },
  {
    route: 'registerAgent',
    name: 'a config of 64 KiB',
    ask: { body: { agentId: 'pi', config: sized(65_536) } },
    status: 201,
  },
  {
    route: 'registerAgent',
    name: 'a config of 128 levels',
    ask: { body: { agentId: 'pi', config: nested(128) } },
    status: 201,
  },
  ...refused('registerAgent'),
  ...wrongAgents('registerAgent'),
  {
    route: 'registerAgent',
    name: 'a revoked machine',
    ask: ({ ours }) => ({ params: { environmentId: ours.revokedEnvironmentId } }),
    status: 400,
    code: 'environment_unusable',
  },
  { route: 'registerAgent', name: 'an unknown machine', ask: { params: { environmentId: 'env_none' } }, status: 404 },
  {
    route: 'listAgents',
    name: 'the answer is the whole catalog',
    status: 200,
    body: () => ({ agents: CATALOG.map(({ agentId, vendor }) => ({ agentId, vendor, status: 'active' })) }),
  },
  {
    route: 'listInstallations',
    name: 'disabled installations are included',
    status: 200,
    after: ({ ours }, { text }) => expect(text).toContain(ours.disabledInstallationId),
    without: ({ theirs }) => [theirs.installationId],
  },
  {
    route: 'createInstallation',
    name: 'an installation without a machine has no environmentId',
    ask: { body: { agentId: 'amp' } },
    status: 201,
    after: (_, { body }) => expect(body.installation).not.toHaveProperty('environmentId'),
  },
  {
    route: 'createInstallation',
    name: 'an installation on a machine',
    ask: async ({ service, ours }) => {
      const { environmentId } = await registerMachine(service, ours.live);
      return { body: { agentId: 'amp', environmentId, version: '1', config: {} } };
    },
    status: 201,
    body: (_, { body }) => ({ installation: { ...(body as object), status: 'active' } }),
  },
  {
    route: 'createInstallation',
    name: 'an unknown machine',
    ask: { body: { agentId: 'amp', environmentId: 'env_none' } },
    status: 400,
    code: 'environment_unusable',
  },
  {
    route: 'createInstallation',
    name: 'a machine of another organization',
    ask: ({ theirs }) => ({ body: { agentId: 'amp', environmentId: theirs.environmentId } }),
    status: 400,
    code: 'environment_unusable',
  },
  {
    route: 'createInstallation',
    name: 'a revoked machine',
    ask: ({ ours }) => ({ body: { agentId: 'amp', environmentId: ours.revokedEnvironmentId } }),
    status: 400,
    code: 'environment_unusable',
  },
  ...refused('createInstallation'),
  ...wrongAgents('createInstallation'),
  {
    route: 'updateInstallation',
    name: 'given fields are replaced, and the others are kept',
    ask: { body: { config: { b: 2 }, status: 'disabled' } },
    status: 200,
    body: ({ ours }) => ({
      installation: { installationId: ours.installationId, config: { b: 2 }, status: 'disabled', agentId: 'codex' },
    }),
  },
  {
    route: 'updateInstallation',
    name: 'a disabled installation becomes active again, and its update time moves',
    ask: ({ service }) => {
      service.clock.now += 1_000;
      return { body: { status: 'active' } };
    },
    status: 200,
    body: ({ service }) => ({
      installation: { status: 'active', config: { b: 2 }, updatedAt: new Date(service.clock.now).toISOString() },
    }),
  },
  { route: 'updateInstallation', name: 'an empty change', ask: { body: {} }, status: 200 },
  {
    route: 'updateInstallation',
    name: 'an unknown status',
    ask: { body: { status: 'paused' } },
    status: 400,
    says: /^\/status /,
  },
  ...refused('updateInstallation'),
  {
    route: 'updateInstallation',
    name: 'an unknown installation',
    ask: { params: { installationId: 'ins_none' } },
    status: 404,
  },
];
