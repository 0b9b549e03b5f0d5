import type { Visibility } from '../../contract/session.ts';
import { beginSignIn, type Machine, registerMachine } from './factories.ts';
import type { TestService } from './harness.ts';
import type { World } from './world.ts';

/** Registers a machine through a sign-in that the person confirms. @returns the machine's secret */
export async function signInMachine(service: TestService, as: string, hostname: string): Promise<string> {
  const { deviceCode, userCode } = await beginSignIn(service, hostname);
  await service.call('POST', '/v1/organizations/me/device-sign-in', { as, body: { userCode, decision: 'approve' } });
  return (await service.call('POST', '/v1/device-sign-ins/secret', { body: { deviceCode } })).body.value;
}

/** The body that opens a session on the machine. */
export const openingOn = ({ environmentId, installationId }: Machine, visibility?: Visibility) => ({
  environmentId,
  agentInstallationId: installationId,
  ...(visibility && { visibility }),
});

let counter = 0;

/** Opens a session of the person on a new machine of theirs. @returns its id */
export async function openSigned({ service }: World, as: string, visibility: Visibility): Promise<string> {
  const hostname = `machine-of-a-person-${++counter}`;
  const secret = await signInMachine(service, as, hostname);
  const machine = await registerMachine(service, secret, hostname);
  return (await service.call('POST', '/v1/sessions', { as: secret, body: openingOn(machine, visibility) })).body
    .sessionId;
}
