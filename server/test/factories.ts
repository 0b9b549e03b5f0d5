import { expect, vi } from 'vitest';
import type { DevicePurpose, StartedDevice } from '../../contract/device.ts';
import type { Plane } from '../../contract/secret.ts';
import type { TestReply, TestService } from './harness.ts';

/** An organization with people of every role, and secrets of both planes. */
export interface Tenant {
  organizationId: string;
  owner: string;
  admin: string;
  member: string;
  live: string;
  test: string;
}

let counter = 0;

/** A signed-in person with no organization. */
export function signIn(service: TestService, name = `person-${++counter}`): Promise<string> {
  return service.identity.token({ subject: name, email: `${name}@example.com` });
}

export async function createTenant(service: TestService, name = `tenant-${++counter}`): Promise<Tenant> {
  const owner = await signIn(service, `${name}-owner`);
  const created = await service.call('POST', '/v1/organizations', { as: owner, body: { name } });
  return {
    organizationId: created.body.organizationId,
    owner,
    admin: await join(service, owner, `${name}-admin`, 'admin'),
    member: await join(service, owner, `${name}-member`, 'member'),
    live: await issueSecret(service, owner, 'live'),
    test: await issueSecret(service, owner, 'test'),
  };
}

async function join(service: TestService, owner: string, name: string, role: string): Promise<string> {
  const body = { email: `${name}@example.com`, role };
  await service.call('POST', '/v1/organizations/me/members', { as: owner, body });
  return signIn(service, name);
}

export async function issueSecret(service: TestService, as: string, secretEnvironment: Plane): Promise<string> {
  const { body } = await service.call('POST', '/v1/organizations/me/secrets', { as, body: { secretEnvironment } });
  return body.value;
}

/** A machine with an agent installed on it. */
export interface Machine {
  environmentId: string;
  installationId: string;
}

export async function registerMachine(
  service: TestService,
  secret: string,
  hostname = `host-${++counter}`,
): Promise<Machine> {
  const machine = { hostname, platform: 'linux', serviceCliVersion: '1.0.0' };
  const { environmentId } = (await service.call('POST', '/v1/environments', { as: secret, body: machine })).body;
  const agents = `/v1/environments/${environmentId}/agents`;
  const { installationId } = (await service.call('POST', agents, { as: secret, body: { agentId: 'codex' } })).body;
  return { environmentId, installationId };
}

export async function openSession(service: TestService, secret: string, machine?: Machine): Promise<string> {
  const { environmentId, installationId } = machine ?? (await registerMachine(service, secret));
  const body = { environmentId, agentInstallationId: installationId };
  return (await service.call('POST', '/v1/sessions', { as: secret, body })).body.sessionId;
}

export const event = (text: string) => ({ eventType: 'user.message', payload: { text } });

/** Appends one event for each text, under the idempotency key if one is given. */
export const appendTexts = (
  service: TestService,
  { live: as }: Tenant,
  sessionId: string,
  texts: readonly string[],
  key?: string,
): Promise<TestReply> =>
  service.call('POST', `/v1/sessions/${sessionId}/events`, {
    as,
    body: { events: texts.map(event) },
    headers: key === undefined ? {} : { 'idempotency-key': key },
  });

/** The texts of a session's events as members read them. */
export async function readTexts(service: TestService, { member: as }: Tenant, sessionId: string): Promise<string[]> {
  const url = `/v1/organizations/me/sessions/${sessionId}/events?limit=500`;
  const { events } = (await service.call('GET', url, { as })).body;
  return events.map(({ payload }: { payload: { text: string } }) => payload.text);
}

/** Starts a machine's sign-in, which then waits for confirmation. */
export async function beginSignIn(
  service: TestService,
  hostname: string,
  purpose?: DevicePurpose,
): Promise<StartedDevice> {
  const body = { hostname, platform: 'linux', serviceCliVersion: '1.0.0', purpose };
  return (await service.call('POST', '/v1/device-sign-ins', { body })).body;
}

/** Waits until the session is derived through its last event, which happens after the events are acknowledged. */
export async function whenDerived(service: TestService, as: string, sessionId: string, count: number): Promise<void> {
  const url = `/v1/organizations/me/session-summaries?sessionIds=${sessionId}`;
  await vi.waitFor(async () => {
    const { body } = await service.call('GET', url, { as });
    expect(body.summaries[0].summarizedThrough).toBe(count);
  }, 30_000);
}
