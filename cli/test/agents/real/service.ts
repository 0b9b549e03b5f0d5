import type { AddressInfo } from 'node:net';
import { createTenant } from '../../../../server/test/factories.ts';
import { startTestService } from '../../../../server/test/harness.ts';
import type { Source } from '../../../../transcript/vocabulary.ts';

export interface StoredEvent {
  sequence: number;
  eventType: string;
  payload: { source: Source; text?: string; output?: unknown; [field: string]: unknown };
}

/** The real service on a loopback port with an organization, read as a member. */
export async function startService() {
  const service = await startTestService('sqlite');
  const tenant = await createTenant(service);
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = service.app.server.address() as AddressInfo;
  const get = async (path: string) =>
    (await service.call('GET', `/v1/organizations/me/${path}`, { as: tenant.member })).body;

  return {
    url: `http://127.0.0.1:${port}`,
    secret: tenant.live,
    /** Every event of every session, by the service's id of the session. */
    async events(): Promise<Map<string, StoredEvent[]>> {
      const { sessions } = await get('sessions?limit=100');
      const events = new Map<string, StoredEvent[]>();
      for (const { sessionId } of sessions) {
        const page = await get(`sessions/${sessionId}/window?limit=10000`);
        events.set(sessionId, page.events);
      }
      return events;
    },
    /** Confirms the sign-in of a machine as the member. */
    async confirm(userCode: string): Promise<void> {
      const body = { userCode, decision: 'approve' };
      await service.call('POST', '/v1/organizations/me/device-sign-in', { as: tenant.member, body });
    },
    close: () => service.close(),
  };
}
