import { MAX_PAYLOAD_BYTES, MAX_PAYLOAD_DEPTH } from '../../contract/event.ts';
import { type Redactor, WITHHELD } from '../../redact/redactor.ts';
import { splitPayload } from '../../transcript/parts.ts';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import { isDeeper } from '../exact.ts';
import type { FileRow } from '../spool/files.ts';
import type { SessionFacts } from '../spool/sessions.ts';
import { factsOf, mergeFacts } from './facts.ts';
import { type Form, formOf } from './forms.ts';
import type { CapturedRecord } from './record.ts';

/** A record in the form that the spool takes over. */
export interface MaskedRecord extends Omit<CapturedRecord, 'events'> {
  /** Its masked events. Absent if the record stays on this machine: then only the cursor moves past it. */
  content?: {
    /**
     * Their JSON texts in UTF-8, outside the engine's heap. Strings would live long enough to be moved to the old generation,
     * and the engine would collect that twice as often.
     */
    texts: readonly Buffer[];
    /** The facts that they give about their session. */
    facts: SessionFacts;
    form: Form;
    /** How many secrets were masked. */
    masked: number;
    /** Whether masking failed. Then nothing of the record is sent. */
    isWithheld: boolean;
  };
}

/** The file that a record is from. */
type From = Pick<FileRow, 'agent' | 'path' | 'origin'>;

export type Mask = (from: From, record: CapturedRecord) => Required<MaskedRecord>;

/** The number of sessions with a known folder: a daemon runs for months. A forgotten folder is added again. */
const MAX_FOLDERS = 1000;

/** Masks one record after another. */
export function createMask(redactor: Pick<Redactor, 'redact'>): Mask {
  /** Some agents tell their folder only to the model. */
  const folders = new Map<string, string>();

  return function mask(from, { events, ...record }) {
    const { agent, origin } = from;
    const { folder } = record;
    const session = `${agent} ${origin.session}`;
    const isNewFolder = folder !== undefined && origin.subagent === undefined && folders.get(session) !== folder;
    if (isNewFolder) {
      if (folders.size >= MAX_FOLDERS) folders.clear();
      folders.set(session, folder);
    }
    const asked = isNewFolder ? [...events, folderEvent(from, folder)] : events;
    const masked = redactor.redact(asked, { session, folder }).map(encodeRaw);
    const counts = masked.flatMap(({ payload }) => Object.entries(payload.redactions ?? {}));
    const texts = masked.slice(0, events.length).flatMap(serializeEvent);
    const content = {
      texts: texts.map((text) => Buffer.from(text)),
      facts: masked.map(factsOf).reduce(mergeFacts, {}),
      form: formOf(masked),
      masked: counts.reduce((sum, [rule, times]) => (rule === WITHHELD ? sum : sum + times), 0),
      isWithheld: counts.some(([rule]) => rule === WITHHELD),
    };
    return { ...record, content };
  };
}

/** A record that stays on this machine. */
export const withoutContent = ({ events: _, ...record }: CapturedRecord): MaskedRecord => record;

function folderEvent({ agent, path, origin }: From, cwd: string): CapturedEvent {
  const source = { agent, session: origin.session, file: path, position: 0 };
  return { eventType: 'session.meta', payload: { source, cwd } };
}

/** From here on, bytes that are not UTF-8 travel as base64. */
function encodeRaw(event: CapturedEvent): CapturedEvent {
  if (event.eventType !== 'unreadable' || event.payload.encoding !== 'base64') return event;
  const raw = Buffer.from(event.payload.raw, 'latin1').toString('base64');
  return { ...event, payload: { ...event.payload, raw } };
}

/** The JSON texts of an event in the service's format: one text, or several parts if the payload is too large or too deep. */
export function serializeEvent(event: CapturedEvent): string[] {
  const { eventType, payload } = event;
  const text = JSON.stringify({ eventType, payload });
  const opening = `{"eventType":${JSON.stringify(eventType)},"payload":`;
  const isFlat = !isDeeper(payload, MAX_PAYLOAD_DEPTH);
  if (isFlat && isAtMost(text, opening.length + MAX_PAYLOAD_BYTES + 1)) return [text];
  const json = text.slice(opening.length, -1);
  // A small but deep event still needs two parts, since a single part would not be a part.
  const isSmall = json.length < 2 * MAX_PAYLOAD_BYTES;
  const size = isSmall ? Buffer.byteLength(JSON.stringify(json)) : Number.POSITIVE_INFINITY;
  const overhead = Buffer.byteLength(JSON.stringify(payload.source)) + 128;
  const maxBytes = Math.min(MAX_PAYLOAD_BYTES, overhead + Math.ceil(size / 2));
  return splitPayload(payload.source, json, maxBytes).map((part) => `${opening}${JSON.stringify(part)}}`);
}

/** Counts bytes only where the number of characters does not decide. */
const isAtMost = (text: string, bytes: number) =>
  text.length * 3 <= bytes || (text.length <= bytes && Buffer.byteLength(text) <= bytes);
