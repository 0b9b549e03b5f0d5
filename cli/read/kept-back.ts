import { join } from 'node:path';
import type { Decisions } from '../spool/decisions.ts';
import type { FileCursor } from '../spool/files.ts';
import { openBytes } from './bytes.ts';
import { continues, cursorAt, FILE_START } from './cursor.ts';
import { stampOf, type Transcript } from './discover.ts';
import { readKeys, type UnreadTranscript } from './identify.ts';
import type { RecordHash } from './identity.ts';

/**
 * Notes the records of a file of a kept-back session, by hashes of their keys, because a copy of such a record reveals a
 * fork. No content is kept. If the file only grew, only its new part is read. Returns a function that stores the notes, or
 * undefined if nothing is new.
 */
export function findKeptBack(
  decisions: Decisions,
  hashRecord: RecordHash,
  transcript: Transcript & Pick<UnreadTranscript, 'origin' | 'stored'>,
): (() => void) | undefined {
  const { origin, stored } = transcript;
  const path = join(transcript.root, transcript.path);
  const before = toNoted(decisions.keptBackFile(path));
  const stamp = stampOf(transcript);
  if (stored || before?.stamp === stamp) return undefined;
  const agent = transcript.agent.id;
  const from = openBytes(path);
  try {
    const hasGrown = before !== undefined && continues(from, before.cursor);
    const { keys, end } = readKeys(transcript, from, hasGrown ? before.cursor.position : 0);
    const records = keys.map((key) => hashRecord(`${agent} ${key}`));
    const noted = fromNoted({ stamp, cursor: cursorAt(from, end) });
    return () => {
      for (const record of records) decisions.addKeptBack(agent, origin.session, record);
      decisions.setKeptBackFile(path, noted);
    };
  } finally {
    from.close();
  }
}

/** How far the records of a file were noted, and the state of the file then. */
interface Noted {
  stamp: string;
  cursor: FileCursor;
}

const fromNoted = ({ stamp, cursor: { position, headLength, head, tail } }: Noted): string =>
  JSON.stringify([stamp, position, headLength, toHex(head), toHex(tail)]);

function toNoted(text: string | undefined): Noted | undefined {
  if (text === undefined) return undefined;
  const [stamp, position, headLength, head, tail] = JSON.parse(text) as [string, number, number, string, string];
  const hashes = { head: Buffer.from(head, 'hex'), tail: Buffer.from(tail, 'hex') };
  return { stamp, cursor: { ...FILE_START, position, headLength, ...hashes } };
}

const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
