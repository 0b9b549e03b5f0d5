import { appendFileSync, closeSync, fsyncSync, openSync, readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/**
 * What the service has, kept beside the spool and apart from it, so that a spool which is damaged can be made anew without
 * sending anything twice. Lines that are only ever added, each with its checksum.
 */
export interface Journal {
  /** On the disk when this returns. */
  account(id: string): void;
  /** A session of the service that an agent's session goes to; on the disk when this returns. */
  opened(agent: string, session: string, serviceId: string): void;
  /** Batches that were acknowledged. A power cut may take the last of them. */
  sent(batches: readonly SentBatch[]): void;
}

export interface SentBatch {
  agent: string;
  session: string;
  /** Which of its session's batches it is, from 1. */
  number: number;
  events: number;
  /** See `packTags`. */
  records: Uint8Array;
}

export type JournalLine =
  | { account: string }
  | { opened: string; agent: string; session: string }
  | { sent: string; agent: string; session: string; number: number; events: number };

export const journalPath = (spoolPath: string): string => spoolPath.replace(/(\.db)?$/, '.sent');

export function createJournal(spoolPath: string): Journal {
  const path = journalPath(spoolPath);

  function write(lines: readonly JournalLine[], surely: boolean): void {
    const fd = openSync(path, 'a', 0o600);
    try {
      appendFileSync(fd, lines.map(toText).join(''));
      if (surely) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }

  return {
    account(id) {
      write([{ account: id }], true);
    },
    opened: (agent, session, serviceId) => write([{ opened: serviceId, agent, session }], true),
    sent(batches) {
      const lines = batches.map(({ records, ...batch }) => ({
        ...batch,
        sent: Buffer.from(records).toString('base64'),
      }));
      write(lines, false);
    },
  };
}

/** For a spool that is forgotten. */
export const NO_JOURNAL: Journal = { account: () => {}, opened: () => {}, sent: () => {} };

/** Its lines in order, without those that are damaged; `broken` counts these. */
export function readJournal(spoolPath: string): { lines: JournalLine[]; broken: number } {
  let text = '';
  try {
    text = readFileSync(journalPath(spoolPath), 'latin1');
  } catch {
    return { lines: [], broken: 0 };
  }
  const texts = text.split('\n').filter((line) => line !== '');
  const lines = texts.flatMap((line) => fromText(line) ?? []);
  return { lines, broken: texts.length - lines.length };
}

/** Whose captures they are. */
export function accountIn(lines: readonly JournalLine[]): string | undefined {
  for (const line of lines.toReversed()) if ('account' in line) return line.account;
  return undefined;
}

/** A line feed before it too: what a power cut has torn must not take the next line with it. */
function toText(line: JournalLine): string {
  const json = JSON.stringify(line).replace(/[\u0080-\uffff]/g, escapeCharacter);
  return `\n${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

const escapeCharacter = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

function fromText(text: string): JournalLine | undefined {
  const json = text.slice(9);
  if (crc32(json).toString(16).padStart(8, '0') !== text.slice(0, 8)) return undefined;
  return JSON.parse(json) as JournalLine;
}
