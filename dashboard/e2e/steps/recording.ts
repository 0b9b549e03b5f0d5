import { vi } from 'vitest';
import type { Client } from '../../../contract/client.ts';
import { MAX_BATCH_EVENTS, type NewEvent } from '../../../contract/event.ts';

/** Appends any events to sessions, like a command line would. */
export interface Recorder {
  openSession(title: string): Promise<string>;
  append(sessionId: string, events: readonly NewEvent[]): Promise<void>;
}

export async function createRecorder(machine: Client, hostname = 'workbench'): Promise<Recorder> {
  const environment = await machine.registerEnvironment({
    body: { hostname, platform: 'linux', serviceCliVersion: '0.1.0' },
  });
  const { environmentId } = environment.body;
  const installation = await machine.registerAgent({ environmentId, body: { agentId: 'claude-code' } });
  const agentInstallationId = installation.body.installationId;
  return {
    async openSession(title) {
      return (await machine.openSession({ body: { environmentId, agentInstallationId, title } })).body.sessionId;
    },
    async append(sessionId, events) {
      for (let first = 0; first < events.length; first += MAX_BATCH_EVENTS) {
        await machine.appendEvents({ sessionId, body: { events: events.slice(first, first + MAX_BATCH_EVENTS) } });
      }
    },
  };
}

/** Waits until the session is derived. Until then, its page asks for its index again and again. */
export async function waitUntilDerived(owner: Client, sessionId: string, events: number): Promise<void> {
  const derived = async () => (await owner.getSessionFacts({ sessionId })).body.summary.summarizedThrough;
  await vi.waitUntil(async () => (await derived()) === events, { timeout: 60_000, interval: 200 });
}

let position = 0;

/** An event like the parsers create. */
export function event(eventType: string, fields: Record<string, unknown> = {}): NewEvent {
  position += 100;
  const source = { agent: 'claude-code', session: 'a', file: 'projects/a.jsonl', position };
  const occurredAt = new Date(Date.parse('2026-11-21T09:12:04.000Z') + position * 10).toISOString();
  return { eventType, payload: { source, occurredAt, ...fields } };
}
