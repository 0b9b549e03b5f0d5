import { join } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { codeOf, describe } from '../failure.ts';
import type { Trouble } from '../read/discover.ts';
import { parseExact } from '../read/exact.ts';
import type { Identify } from '../read/identity.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { FileRow } from '../spool/files.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';
import { readEvents } from '../upload/refusals.ts';
import type { Answers } from './answers.ts';
import { type Digester, type ExpectedEvent, expectEvents, identityOf } from './expect.ts';
import type { Findings } from './findings.ts';
import { type Held, type HeldEvents, REFUSED, WAITING } from './held.ts';
import { resolveLacking } from './lacking.ts';
import type { Notes } from './notes.ts';
import { createOrder } from './order.ts';
import { openTranscript, type Transcript } from './records.ts';
import { explainSurplus } from './surplus.ts';

export interface Verifier {
  spool: Spool;
  redactor: Pick<Redactor, 'redact'>;
  identify: Identify;
  answers: Answers;
  digester: Digester;
  held: HeldEvents;
  notes: Notes;
  findings: Findings;
  /** The agent whose transcript a file is. */
  agentOf: (row: FileRow) => Agent | undefined;
  /** Why a session is not captured any more. */
  objection: (session: SessionRow, row: FileRow) => string | undefined;
  onTrouble: (trouble: Trouble) => void;
  /** Told of a session that records of another one were captured in. */
  onOwner: (id: number) => void;
  now: () => number;
  isStopped: () => boolean;
}

/** A file of the session that is being verified. */
export interface KnownFile {
  row: FileRow;
  path: string;
  /** What events from it have as `file`. */
  digest: string;
  /** Absent where it was deleted. */
  transcript?: Pick<Transcript, 'isKnown' | 'isRewritten'>;
  isLeftOut: boolean;
}

/** The session that is being verified. */
export interface Verified {
  session: SessionRow;
  /** The service's sessions that hold it, in order; those that the service does not know are among them. */
  serviceIds: string[];
  files: KnownFile[];
}

/** Compares what the service holds of a session with what its transcripts say. */
export async function verifySession(verifier: Verifier, session: SessionRow): Promise<void> {
  const { spool, held, notes, findings, digester } = verifier;
  held.clear();
  notes.clear();
  // In this order nothing is overlooked while capturing goes on: what was read is in the spool until the service has it.
  const rows = spool.files.ofSession(session.agent, session.agentSession);
  const serviceIds = spool.sessions.serviceIds(session.id);
  addSpooled(verifier, session);
  for (const [place, sessionId] of serviceIds.entries()) await addHeld(verifier, place, sessionId);

  const files = rows.map((row): KnownFile => {
    const digest = digester.digestName('file', session.agentSession, row.path);
    const isLeftOut = verifier.objection(session, row) !== undefined;
    return { row, path: join(row.root, row.path), digest, isLeftOut };
  });
  const verified = { session, serviceIds, files };
  for (const number of files.keys()) {
    if (verifier.isStopped()) return;
    await readFile(verifier, verified, number);
  }
  findings.count('sessions');
  await resolveLacking(verifier, verified);
  explainSurplus(verifier, verified);
}

/** A file that cannot be read stops nothing: what is held of it cannot be verified, like that of one that was deleted. */
async function readFile(verifier: Verifier, verified: Verified, number: number): Promise<void> {
  const { findings } = verifier;
  const file = verified.files[number] as KnownFile;
  const agent = verifier.agentOf(file.row);
  let stream: Transcript['stream'] | undefined;
  try {
    const transcript = agent && openTranscript(agent, file.row, verifier.now(), verifier.identify);
    findings.count(transcript ? 'files' : 'deletedFiles');
    if (transcript === undefined) return;
    stream = transcript.stream;
    await walk(verifier, verified, number, transcript);
    file.transcript = transcript;
  } catch (error) {
    if (codeOf(error)?.startsWith('E') !== true) throw error;
    findings.count('unreadableFiles');
    verifier.onTrouble({ path: file.path, reason: describe(error) });
  } finally {
    stream?.close();
  }
}

function addSpooled({ spool, held, digester }: Verifier, { id }: SessionRow): void {
  const add = (place: number, event: unknown, sequence: number) => {
    const { eventType, payload } = event as { eventType: string; payload: unknown };
    held.add({ place, sequence, eventType, ...digester.digestPayload(JSON.stringify(payload)) });
  };
  for (let batch = spool.batches.next(id, 0); batch; batch = spool.batches.next(id, batch.id)) {
    for (const [index, event] of readEvents(batch).entries()) add(WAITING, parseExact(event), index);
  }
  const refused = [...spool.refused.list()].filter(({ session }) => session === id);
  for (const [index, { event }] of refused.entries()) add(REFUSED, parseExact(event), index);
}

const addHeld = ({ answers, held }: Verifier, place: number, sessionId: string) =>
  answers.digests(sessionId, (page) => {
    for (const digests of page) held.add({ place, ...digests });
  });

/** Takes every event of a transcript that is held exactly as it would be captured, and notes those that are not. */
async function walk(verifier: Verifier, verified: Verified, number: number, transcript: Transcript): Promise<void> {
  const { spool, notes, findings, redactor, digester } = verifier;
  const { session, files } = verified;
  const order = createOrder(verifier, verified, number, transcript);
  let bytes = 0;
  for (let record = transcript.stream.peek(); record; record = transcript.stream.peek()) {
    transcript.stream.take();
    if (transcript.isAppended(record)) {
      findings.count('waiting');
      continue;
    }
    bytes += record.bytes;
    if (bytes > BYTES_A_TURN) bytes = await giveWay();
    const { source } = record.events[0]?.payload ?? {};
    if (source === undefined) continue;
    const identity = identityOf(record, source);
    const events = expectEvents(record, redactor, digester);
    const taken = events.map((event) => takeSame(verifier.held, event));
    const lacking = events.filter((_, index) => taken[index] === undefined);
    if (lacking.length === 0) {
      notes.meet(identity, session.id);
      countRecord(findings, taken.flat());
      order.check(record, events, taken);
      continue;
    }
    const owner = record.keyed ? spool.seen.sessionOf(identity) : undefined;
    if (lacking.length === events.length && owner !== undefined && owner !== session.id) {
      const place = {
        path: files[number]?.path ?? '',
        position: source.position,
        eventType: events[0]?.eventType ?? '',
      };
      notes.addElsewhere({ identity, owner, session: session.id, ...place, record: source.record });
      findings.count('replayed');
      verifier.onOwner(owner);
    } else {
      const others = events.length - lacking.length;
      notes.addLacking({ identity, file: number, position: source.position, others, events: lacking });
      order.check(record, events, taken);
    }
  }
}

const BYTES_A_TURN = 4 * 1024 * 1024;

async function giveWay(): Promise<0> {
  await new Promise(setImmediate);
  return 0;
}

/** The events that carry it, taken; undefined, and none of them taken, where one is not held exactly so. */
function takeSame(held: HeldEvents, { eventType, payloads }: ExpectedEvent): Held[] | undefined {
  const rows = payloads.map(({ digest }) => (digest === undefined ? undefined : held.findSame(digest, eventType)));
  if (!rows.every((row) => row !== undefined)) return undefined;
  for (const { id } of rows) held.take(id);
  return rows;
}

/** A record is where the least far of its events is. */
export function countRecord(findings: Findings, rows: readonly (Held | undefined)[]): void {
  const places = rows.map((row) => row?.place ?? 0);
  if (places.includes(WAITING)) findings.count('waiting');
  else if (places.includes(REFUSED)) findings.count('setAside');
  else findings.count('records');
  findings.count('events', places.filter((place) => place >= 0).length);
}
