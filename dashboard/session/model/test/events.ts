import type { SessionEvent } from '../../../../contract/event.ts';
import type { Entry } from '../../../../transcript/entry/entry.ts';
import { readEvent } from '../../../../transcript/entry/read.ts';

const START = Date.parse('2026-11-21T09:00:00.000Z');

export type Given = [eventType: string, payload?: Record<string, unknown>, seconds?: number];

/** Events like those of the service: numbered from 1, a second apart by default. */
export const eventsOf = (...events: Given[]): SessionEvent[] =>
  events.map(([eventType, payload = {}, seconds], index) => ({
    sessionId: 'ses_1',
    eventId: `evt_${index + 1}`,
    sequence: index + 1,
    eventType,
    payload: { occurredAt: new Date(START + (seconds ?? index) * 1000).toISOString(), ...payload },
    createdAt: '2026-11-22T00:00:00.000Z',
  }));

export const entriesOf = (...events: Given[]): Entry[] => eventsOf(...events).map(readEvent);

export const call = (callId: string, name = 'Read', input: unknown = { file_path: '/a.ts' }): Given => [
  'tool.call',
  { callId, name, input },
];
export const result = (callId: string, more: Record<string, unknown> = {}): Given => [
  'tool.result',
  { callId, output: 'done', ...more },
];
