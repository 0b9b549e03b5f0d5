import { hash } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { PayloadDigests } from '../../transcript/digester.ts';
import type { Context } from '../context.ts';
import type { Why } from '../decide/periods.ts';
import { codeOf, describe } from '../failure.ts';
import type { Policy } from '../privacy/policy.ts';
import type { RecordHash } from '../read/identity.ts';
import type { MovedTranscripts } from '../read/known-files.ts';
import type { Mask } from '../read/mask.ts';
import type { CapturedRecord } from '../read/record.ts';
import type { FileRow } from '../spool/files.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';
import { type AskedSession, createKnownEvents, type KnownEvent } from '../upload/known-events.ts';
import { readEvents } from '../upload/refusals.ts';
import { whyKeptBack } from './kept-back.ts';
import type { Difference, Findings, Problem } from './report.ts';
import { openTranscript, type PresentTranscript, positionOf } from './transcript.ts';

/** The parts of the machine that verifying needs. */
export interface Verifier {
  context: Context;
  spool: Spool;
  mask: Mask;
  hashRecord: RecordHash;
  policy: Policy;
  moved: MovedTranscripts;
  findings: Findings;
  warn(sentence: string): void;
  /** Called with a session that has captured records of another one. */
  onOwner(id: number): void;
}

/** Places of events that are still in the spool, and not in a session of the service. */
const WAITING = -1;
const REFUSED = -2;

interface KnownFile {
  row: FileRow;
  path: string;
  /** The `file` of its events at the service. */
  digest: string;
  isKeptBack: boolean;
  /** Absent if it was deleted or cannot be read. */
  transcript?: Pick<PresentTranscript, 'isKnown' | 'isRewritten'>;
}

/** An event that the service should have, or one of the parts of an event that is too large. */
interface Expected extends PayloadDigests {
  eventType: string;
  known?: KnownEvent | undefined;
}

type Where = Pick<Difference, 'file' | 'position'>;

/** A record whose events differ from a fresh capture of it. */
interface Lacking {
  file: KnownFile;
  position: number;
  identity: string;
  /** The other session that has captured it. */
  owner: number | undefined;
  /** Why it may have been left out, or removed by the service. */
  why: Why | undefined;
  /** Whether more equal records were captured than were found. */
  isCaptured: () => boolean;
  events: Expected[];
}

/**
 * Compares the events of a session at the service with its transcripts. First the constructor reads the spool, then the
 * caller adds the events of the service, then `compare` reads the transcripts. In this order, it misses nothing while
 * capturing continues: an event is in the spool until the service has it.
 */
export class SessionVerification {
  readonly #verifier: Verifier;
  readonly #session: SessionRow;
  readonly #known = createKnownEvents();
  readonly #serviceIds: readonly string[];
  readonly #files: readonly KnownFile[];
  /** Records with an event that the service does not have exactly as a fresh capture would make it. */
  readonly #lacking: Lacking[] = [];
  /** Identities of records that were found. */
  readonly #resolved = new Set<string>();
  /** How many records without a key were found, by file and text. */
  readonly #foundLines = new Map<string, number>();

  constructor(verifier: Verifier, session: SessionRow) {
    const { spool, policy } = verifier;
    this.#verifier = verifier;
    this.#session = session;
    const rows = spool.files.ofSession(session.agent, session.agentSession);
    this.#serviceIds = spool.sessions.serviceIds(session.id);
    this.#addSpooled();
    this.#files = rows.map((row) => {
      const digest = this.#known.digestName('file', session.agentSession, row.path);
      const isKeptBack = session.verdict !== 'wanted' || policy.objection(session.agent, row.origin) !== undefined;
      return { row, path: join(row.root, row.path), digest, isKeptBack };
    });
  }

  /** The service's sessions to read digests of. */
  asked(): AskedSession[] {
    return this.#serviceIds.map((sessionId, place) => ({ sessionId, place, known: this.#known }));
  }

  async compare(): Promise<void> {
    const { context, findings } = this.#verifier;
    for (const file of this.#files) {
      if (context.stop.aborted) return;
      await this.#readFile(file);
    }
    findings.count('sessions');
    for (const record of this.#lacking) this.#resolve(record);
    for (const event of this.#known.events) if (!event.isTaken && event.place >= 0) this.#explainSurplus(event);
  }

  #addSpooled(): void {
    const { spool } = this.#verifier;
    const { id } = this.#session;
    const known = this.#known;
    const add = (place: number, text: string) =>
      known.add(place, { sequence: known.events.length, ...known.digestEvent(text) });
    for (const batch of spool.batches.ofSession(id)) {
      for (const event of readEvents(batch)) add(WAITING, event);
    }
    for (const event of spool.refused.ofSession(id)) add(REFUSED, event);
  }

  #report(problem: Problem, event: Expected | KnownEvent, where: Where, at?: KnownEvent): void {
    const { agent, agentSession } = this.#session;
    const { eventType, part, of } = event;
    const serviceSession = at && this.#serviceIds[at.place];
    this.#verifier.findings.add({
      problem,
      agent,
      session: agentSession,
      ...where,
      eventType,
      ...(at && { sequence: at.sequence }),
      ...(serviceSession !== undefined && { serviceSession }),
      ...(part !== undefined && { part: `${part} of ${of}` }),
    });
  }

  /** An unreadable file does not stop the verification. Its events cannot be verified, like those of a deleted file. */
  async #readFile(file: KnownFile): Promise<void> {
    const { context, findings, hashRecord, moved, warn } = this.#verifier;
    let transcript: PresentTranscript | undefined;
    try {
      transcript = openTranscript(context, file.row, hashRecord, moved);
      findings.count(transcript ? 'files' : 'deletedFiles');
      if (transcript === undefined) return;
      await this.#readRecords(file, transcript);
      file.transcript = transcript;
    } catch (error) {
      if (codeOf(error)?.startsWith('E') !== true) throw error;
      findings.count('unreadableFiles');
      warn(`${file.path} cannot be read: ${describe(error)}`);
    } finally {
      transcript?.stream.close();
    }
  }

  /** Takes every event that the service has exactly as a fresh capture would make it, and notes the records of the others. */
  async #readRecords(file: KnownFile, { stream, readTo, isRewritten }: PresentTranscript): Promise<void> {
    const { row, path } = file;
    const { spool, policy, mask, findings } = this.#verifier;
    let before: { event: KnownEvent; position: number } | undefined;
    const whyOf = whyKeptBack(spool, policy, row);
    let bytes = 0;
    for (let record = stream.next(); record; record = stream.next()) {
      const position = positionOf(record);
      if (position >= readTo) {
        findings.count(file.isKeptBack ? 'keptBack' : 'waiting');
        continue;
      }
      bytes += record.bytes;
      if (bytes > BYTES_A_TURN) {
        bytes = 0;
        await setImmediate();
      }
      if (record.tooLong) findings.count('tooLong');
      // Makes the same events as capturing.
      const { texts } = mask(row, record).content;
      const events: Expected[] = texts.map((text) => this.#known.digestEvent(text.toString('utf8')));
      for (const event of events) {
        event.known = this.#known.takeFirst('same', event);
        if (event.known === undefined || event.known.place < 0) continue;
        // Files have no order among each other, because they are captured as they grow.
        if (before && before.event.number > event.known.number && !isRewritten) {
          this.#report('disordered', before.event, { file: path, position: before.position }, before.event);
        }
        before = { event: event.known, position };
      }
      const identity = identityOf(record);
      if (events.every((event) => event.known?.eventType === event.eventType)) {
        this.#resolved.add(identity);
        this.#countRecord(events);
        if (!record.keyed) this.#countFound(lineOf(row, record));
      } else {
        const owner = record.keyed ? spool.seen.sessionOf(record.identity) : undefined;
        const isCaptured = this.#askWhetherCaptured(row, record, owner);
        this.#lacking.push({ file, position, identity, owner, why: whyOf(record), isCaptured, events });
      }
    }
  }

  #countFound(line: string): void {
    this.#foundLines.set(line, (this.#foundLines.get(line) ?? 0) + 1);
  }

  /** Returns a check to run once all files are read. */
  #askWhetherCaptured(row: FileRow, record: CapturedRecord, owner: number | undefined): () => boolean {
    if (record.keyed) return () => owner === this.#session.id;
    const captured = this.#verifier.spool.seen.capturedLines(row.id, record.identity);
    const line = lineOf(row, record);
    return () => (this.#foundLines.get(line) ?? 0) < captured;
  }

  /** Explains a record that the service does not have exactly as a fresh capture would make it. */
  #resolve({ file, position, identity, owner, why, isCaptured, events }: Lacking): void {
    const { findings, onOwner } = this.#verifier;
    const isNew = events.every((event) => event.known === undefined);
    // The record is a copy of one that was found at another place.
    if (isNew && this.#resolved.has(identity)) return;
    if (isNew && owner !== undefined && owner !== this.#session.id) {
      findings.count('replayed');
      onOwner(owner);
      return;
    }
    this.#resolved.add(identity);
    // The service removes what expires, so a record that was captured may be gone.
    const isExcused = why === 'expired at the service' || (why !== undefined && !isCaptured());
    const isKeptBack = file.isKeptBack || (isNew && isExcused);
    if (isKeptBack || file.transcript?.isKnown === false) {
      findings.count(isKeptBack ? 'keptBack' : 'waiting');
      return;
    }
    let problems = 0;
    const isMasked = events.some(({ masked }) => masked);
    for (const event of events) {
      const { eventType, part } = event;
      const exact = event.known ?? this.#known.takeFirst('moved', event);
      const other = exact ?? this.#known.takeFirst('altered', event);
      event.known = other;
      if (exact?.eventType === eventType) continue;
      const isMaskedOtherwise = exact === undefined && (isMasked || other?.masked === true);
      if (isMaskedOtherwise && (other?.eventType === eventType || part !== undefined)) {
        findings.count('masked');
        continue;
      }
      problems++;
      this.#report(other ? 'different' : 'missing', event, { file: file.path, position }, other);
    }
    if (problems === 0) this.#countRecord(events);
  }

  /** Counts a record by the state of its least advanced event: waiting, set aside, or at the service. */
  #countRecord(events: readonly Expected[]): void {
    const { findings } = this.#verifier;
    const places = events.map((event) => event.known?.place ?? 0);
    if (places.includes(WAITING)) findings.count('waiting');
    else if (places.includes(REFUSED)) findings.count('setAside');
    else findings.count('records');
    findings.count('events', places.filter((place) => place >= 0).length);
  }

  /** Explains an event at the service that no transcript has: a double, history, or a surplus. */
  #explainSurplus(event: KnownEvent): void {
    const file = this.#files.find(({ digest }) => digest === event.file);
    const twin = this.#known.findTaken(event);
    const excuse = twin?.digest === event.digest && twin ? undefined : this.#excuseFor(event, file);
    if (excuse) {
      this.#verifier.findings.count(excuse);
      return;
    }
    const where = {
      ...(file && { file: file.path }),
      ...(event.position !== undefined && { position: event.position }),
    };
    this.#report(twin ? 'doubled' : 'surplus', event, where, event);
  }

  #excuseFor({ record, revision = 0, file: digest }: KnownEvent, file: KnownFile | undefined) {
    // A file that was moved may be any of the present files.
    const origins = file || digest === undefined ? [file] : this.#files;
    if (origins.some((one) => one && one.transcript === undefined)) return 'unverifiable';
    const isRewritten = origins.some((one) => one?.transcript?.isRewritten);
    const isOlder = () => this.#known.events.some((one) => one.record === record && (one.revision ?? 0) > revision);
    return isRewritten || (record !== undefined && isOlder()) ? 'history' : undefined;
  }
}

const BYTES_A_TURN = 4 * 1024 * 1024;

const lineOf = ({ id }: FileRow, { identity }: CapturedRecord): string => `${id} ${identity.toString('hex')}`;

/** Identifies a record that occurs in a second file. A record without a key is a copy only at the same position. */
function identityOf({ identity, keyed, events }: CapturedRecord): string {
  const name = identity.toString('hex');
  if (keyed) return name;
  const { subagent, position } = events[0]?.payload.source ?? {};
  return hash('sha256', `${name} ${subagent ?? ''} ${position}`);
}
