import { openTestStore, reopen, type TestEngine } from '../engines.ts';
import { createTenant, issueSecret, type Machine, registerMachine, type Tenant } from '../factories.ts';
import { startTestService, type TestService } from '../harness.ts';

/** The expected state of a session. */
export interface ExpectedSession {
  sessionId: string;
  status: 'active' | 'completed' | 'failed';
  events: string[];
  /** For each idempotency key, the body that was sent and the text of the answer. */
  keys: Map<string, { body: string; answer: string }>;
}

/** What the service should hold; sessions are keyed by the number under which they were opened. */
export interface Expected {
  sessions: Map<number, ExpectedSession>;
}

/** The service, and what a caller needs to call it. */
export interface Real {
  engine: TestEngine;
  service: TestService;
  tenant: Tenant;
  machine: Machine;
  secret: string;
}

export async function createModel(engine: TestEngine): Promise<Real> {
  const service = await startTestService(engine, {}, await openTestStore(engine));
  const tenant = await createTenant(service);
  const machine = await registerMachine(service, tenant.live);
  return { engine, service, tenant, machine, secret: tenant.live };
}

export async function restart(real: Real): Promise<void> {
  await real.service.close();
  real.service = await startTestService(real.engine, {}, await reopen(real.service.store));
}

/** Revokes the secret in use and continues with a new one. @returns the old secret */
export async function rotate(real: Real): Promise<string> {
  const { service, tenant, secret } = real;
  const { secretId } = (await service.call('GET', '/v1/secret', { as: secret })).body;
  real.secret = await issueSecret(service, tenant.owner, 'live');
  await service.call('DELETE', `/v1/organizations/me/secrets/${secretId}`, { as: tenant.owner });
  return secret;
}

export async function closeModel(real: Real): Promise<void> {
  await real.service.close();
  await real.service.store.dispose();
}
