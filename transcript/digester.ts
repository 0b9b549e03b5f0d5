import { hash } from 'node:crypto';
import type { EventDigest } from '../contract/digest.ts';

/** The origin that a payload's text contains. */
interface Origin {
  session: string;
  /** The source without file and position, as JSON text. */
  rest: string;
  file: string;
  record: string | undefined;
  position: number;
  index: number | undefined;
  revision: number | undefined;
  /** The index in the text at which the source ends. */
  end: number;
}

/** Digests of a payload, to compare with those of the captured payload. */
export type PayloadDigests = Omit<EventDigest, 'sequence' | 'eventType'>;

const EVENT_BYTES = 16;
const SMALL_BYTES = 8;
/** Texts that every event with a masked secret contains. In a JSON string these quotes would be escaped. */
const MASKED = ['[REDACTED:', '"redactions":{'];

/**
 * Computes digests of captured events, in the same way at both ends. The key contains the nonce and the agent's own session id,
 * so the digests reveal nothing to a person who does not know the session. They have less than half of the bits of SHA-256,
 * which prevents length extension.
 */
export function createDigester(nonce: string) {
  const keys = new Map<string, string>();

  function keyOf(session: string): string {
    const known = keys.get(session);
    if (known !== undefined) return known;
    if (keys.size > 100) keys.clear();
    const key = hash('sha256', `${nonce}\n${session}`, 'hex');
    keys.set(session, key);
    return key;
  }

  const digest = (key: string, what: string, bytes: number) =>
    hash('sha256', `${key} ${what}`, 'buffer').subarray(0, bytes).toString('base64url');

  return {
    /** The digests of a payload's JSON text. There are none if the text does not begin with the source of a captured event. */
    digestPayload(text: string): PayloadDigests {
      const origin = readOrigin(text);
      if (origin === undefined) return {};
      const { session, rest, file, record, position, index, revision, end } = origin;
      const key = keyOf(session);
      const part = /^,"part":(\d{1,9}),"of":(\d{1,9}),"json":/.exec(text.slice(end, end + 60));
      return {
        digest: digest(key, `event ${text}`, EVENT_BYTES),
        content: digest(key, `content ${rest}${text.slice(end)}`, EVENT_BYTES),
        file: digest(key, `file ${file}`, SMALL_BYTES),
        ...(record !== undefined && { record: digest(key, `record ${record}`, SMALL_BYTES) }),
        position,
        ...(index !== undefined && { index }),
        ...(revision !== undefined && { revision }),
        ...(part && { part: Number(part[1]), of: Number(part[2]) }),
        ...(MASKED.some((sign) => text.includes(sign)) && { masked: true }),
      };
    },
    /** The digest of a file or a record of the agent, as the events of a session have it. */
    digestName: (kind: 'file' | 'record', session: string, name: string): string =>
      digest(keyOf(session), `${kind} ${name}`, SMALL_BYTES),
  };
}

const SOURCE_START = '{"source":';
/** A source consists of a few ids and a path. */
const SOURCE_LENGTH = 64 * 1024;

function readOrigin(text: string): Origin | undefined {
  if (!text.startsWith(`${SOURCE_START}{`)) return undefined;
  const end = findEnd(text, SOURCE_START.length);
  if (end === undefined) return undefined;
  const { file, position, ...source } = JSON.parse(text.slice(SOURCE_START.length, end)) as Record<string, unknown>;
  const { session, record, index, revision } = source;
  if (typeof session !== 'string' || typeof file !== 'string' || !isCount(position)) return undefined;
  return {
    session,
    rest: JSON.stringify(source),
    file,
    record: typeof record === 'string' ? record : undefined,
    position,
    index: isCount(index) ? index : undefined,
    revision: isCount(revision) ? revision : undefined,
    end,
  };
}

/** The end of the flat object that starts at an index; undefined if there is none, or it is unreasonably long. */
function findEnd(text: string, start: number): number | undefined {
  const flat = /\{(?:[^"{}]|"(?:[^"\\]|\\.)*")*\}/y;
  flat.lastIndex = start;
  const match = flat.exec(text.length > start + SOURCE_LENGTH ? text.slice(0, start + SOURCE_LENGTH) : text);
  return match ? flat.lastIndex : undefined;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
