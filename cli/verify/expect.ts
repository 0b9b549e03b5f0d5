import { hash } from 'node:crypto';
import type { createDigester, PayloadDigests } from '../../contract/digester.ts';
import type { Part } from '../../contract/parts.ts';
import type { CapturedEvent } from '../../contract/transcript.ts';
import { encodeRaw } from '../read/mask.ts';
import type { CapturedRecord } from '../read/record.ts';
import { serializeEvent } from '../read/serialize.ts';
import type { Redactor } from '../redact/redactor.ts';

/** An event as it must be held: the text of its payload, or several where it travels in parts. */
export interface ExpectedEvent {
  eventType: string;
  index: number | undefined;
  payloads: ExpectedPayload[];
}

export interface ExpectedPayload extends PayloadDigests {
  text: string;
}

export type Digester = ReturnType<typeof createDigester>;

/** What capturing a record makes of it. */
export function expectEvents(
  record: CapturedRecord,
  redactor: Pick<Redactor, 'redact'>,
  { digestPayload }: Digester,
): ExpectedEvent[] {
  const { agent, session } = record.events[0]?.payload.source ?? {};
  const masked = redactor.redact(record.events, { session: `${agent} ${session}`, folder: record.folder });
  return masked.map((each) => {
    const event = encodeRaw(each);
    const payloads = serializeEvent(event).map((json) => {
      const text = payloadOf(json);
      return { text, ...digestPayload(text) };
    });
    return { eventType: event.eventType, index: event.payload.source.index, payloads };
  });
}

/** The text of a payload in an event as it is sent. */
const payloadOf = (json: string): string => json.slice(json.indexOf(PAYLOAD) + PAYLOAD.length, -1);
const PAYLOAD = ',"payload":';

/** The text of the whole payload, however many events carry it. */
export function joinTexts({ payloads }: ExpectedEvent): string {
  const [only, ...others] = payloads;
  if (only !== undefined && others.length === 0) return only.text;
  return payloads.map(({ text }) => (JSON.parse(text) as Part).json).join('');
}

/** What a record is known by when it is met in a second file. One without a key is a copy only where it stands the same. */
export function identityOf(record: CapturedRecord, { session, subagent }: CapturedEvent['payload']['source']): Buffer {
  if (record.keyed) return record.identity;
  const { position } = record.events[0]?.payload.source ?? {};
  const place = `${record.identity.toString('hex')} ${session} ${subagent ?? ''} ${position}`;
  return hash('sha256', place, 'buffer').subarray(0, 16);
}
