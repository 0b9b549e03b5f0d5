import { MAX_PAYLOAD_BYTES, MAX_PAYLOAD_DEPTH } from '../../contract/event.ts';
import { splitPayload } from '../../contract/parts.ts';
import type { CapturedEvent } from '../../contract/transcript.ts';
import { isDeeper } from '../exact.ts';

/** The JSON texts of an event as the service takes it: one, or several parts where its payload is too large or too deep. */
export function serializeEvent(event: CapturedEvent): string[] {
  const { eventType, payload } = event;
  const text = JSON.stringify({ eventType, payload });
  const opening = `{"eventType":${JSON.stringify(eventType)},"payload":`;
  const isFlat = !isDeeper(payload, MAX_PAYLOAD_DEPTH);
  if (isFlat && isAtMost(text, opening.length + MAX_PAYLOAD_BYTES + 1)) return [text];
  const json = text.slice(opening.length, -1);
  // A small but deep one still needs two parts, since one part alone would be no part.
  const isSmall = json.length < 2 * MAX_PAYLOAD_BYTES;
  const size = isSmall ? Buffer.byteLength(JSON.stringify(json)) : Number.POSITIVE_INFINITY;
  const overhead = Buffer.byteLength(JSON.stringify(payload.source)) + 128;
  const maxBytes = Math.min(MAX_PAYLOAD_BYTES, overhead + Math.ceil(size / 2));
  return splitPayload(payload.source, json, maxBytes).map((part) => `${opening}${JSON.stringify(part)}}`);
}

/** Counts bytes only where the number of characters leaves a doubt. */
const isAtMost = (text: string, bytes: number) =>
  text.length * 3 <= bytes || (text.length <= bytes && Buffer.byteLength(text) <= bytes);
