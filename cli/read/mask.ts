import type { CapturedEvent } from '../../contract/transcript.ts';
import { type Redactor, WITHHELD } from '../redact/redactor.ts';
import type { FileRow } from '../spool/files.ts';
import type { SessionFacts } from '../spool/sessions.ts';
import { factsOf, mergeFacts } from './facts.ts';
import type { CapturedRecord } from './record.ts';
import { serializeEvent } from './serialize.ts';

/** A record as it is sent. */
export interface MaskedRecord {
  /** The JSON texts of its events. */
  texts: string[];
  /** What they tell of their session. */
  facts: SessionFacts;
  /** How many secrets were masked. */
  masked: number;
  /** Whether masking failed, so that nothing of it is kept. */
  isWithheld: boolean;
}

/** The file that a record is from. */
type From = Pick<FileRow, 'agent' | 'path' | 'origin'>;

export type Mask = (from: From, record: CapturedRecord) => MaskedRecord;

/** Masks record after record. */
export function createMask(redactor: Pick<Redactor, 'redact'>): Mask {
  /** For agents that tell their folder to the model alone. */
  const folders = new Map<string, string>();

  return function mask(from, { events, folder }) {
    const { agent, origin } = from;
    const session = `${agent} ${origin.session}`;
    const isNewFolder = folder !== undefined && origin.subagent === undefined && folders.get(session) !== folder;
    if (isNewFolder) folders.set(session, folder);
    const asked = isNewFolder ? [...events, folderEvent(from, folder)] : events;
    const masked = redactor.redact(asked, { session, folder }).map(encodeRaw);
    // The file's version is in each event as well, and masked there.
    const agentVersion = origin.agentVersion && masked[0]?.payload.source.agentVersion;
    const counts = masked.flatMap(({ payload }) => Object.entries(payload.redactions ?? {}));
    return {
      texts: masked.slice(0, events.length).flatMap(serializeEvent),
      facts: masked.map(factsOf).reduce(mergeFacts, { agentVersion }),
      masked: counts.reduce((sum, [rule, times]) => (rule === WITHHELD ? sum : sum + times), 0),
      isWithheld: counts.some(([rule]) => rule === WITHHELD),
    };
  };
}

function folderEvent({ agent, path, origin }: From, cwd: string): CapturedEvent {
  const source = { agent, session: origin.session, file: path, position: 0 };
  return { eventType: 'session.meta', payload: { source, cwd } };
}

/** Bytes that are no UTF-8 travel as base64 from here on. */
function encodeRaw(event: CapturedEvent): CapturedEvent {
  if (event.eventType !== 'unreadable' || event.payload.encoding !== 'base64') return event;
  const raw = Buffer.from(event.payload.raw, 'latin1').toString('base64');
  return { ...event, payload: { ...event.payload, raw } };
}
