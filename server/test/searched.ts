import { expect } from 'vitest';
import { type Machine, openSession, type Tenant, whenDerived } from './factories.ts';
import type { TestReply, TestService } from './harness.ts';

interface SentEvent {
  eventType: string;
  payload: object;
}

/** Opens a session with these events and waits until all of it is derived. @returns its id */
export async function sessionWith(
  service: TestService,
  tenant: Tenant,
  machine: Machine,
  events: readonly SentEvent[],
  plane: 'live' | 'test' = 'live',
): Promise<string> {
  const sessionId = await openSession(service, tenant[plane], machine);
  for (let at = 0; at < events.length; at += 50) {
    const body = { events: events.slice(at, at + 50) };
    const reply = await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: tenant[plane], body });
    expect(reply.status, reply.text).toBe(200);
  }
  await whenDerived(service, tenant.member, sessionId, events.length);
  return sessionId;
}

export const find = (service: TestService, as: string, query: Record<string, string | number>): Promise<TestReply> =>
  service.call('GET', `/v1/organizations/me/search?${new URLSearchParams(query as Record<string, string>)}`, { as });

export const findIn = (service: TestService, as: string, sessionId: string, q: string, from = 1): Promise<TestReply> =>
  service.call(
    'GET',
    `/v1/organizations/me/sessions/${sessionId}/find?${new URLSearchParams({ q, from: String(from) })}`,
    { as },
  );

/** The ids of the sessions that were found, in the order of the answer. */
export const idsOf = ({ body }: TestReply): string[] =>
  body.sessions.map(({ session }: { session: { sessionId: string } }) => session.sessionId);

const source = { agent: 'codex', session: 's', file: 'f', position: 0 };
export const said = (text: string): SentEvent => ({ eventType: 'assistant.message', payload: { source, text } });
export const asked = (text: string): SentEvent => ({ eventType: 'user.message', payload: { source, text } });
export const called = (name: string, input: unknown, callId?: string): SentEvent => ({
  eventType: 'tool.call',
  payload: { source, name, input, ...(callId && { callId }) },
});
export const answered = (output: string, fields: object = {}): SentEvent => ({
  eventType: 'tool.result',
  payload: { source, output, ...fields },
});
