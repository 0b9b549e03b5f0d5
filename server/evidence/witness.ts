import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import {
  type ChainHead,
  chainStart,
  contentDigest,
  digestOfMasked,
  eventDigest,
  follow,
} from '../../contract/chain.ts';
import { type Envelope, openEnvelope } from '../../contract/dsse.ts';
import { COUNTERSIGNATURE, type Countersigned, type Evidence } from '../../contract/evidence.ts';
import { chainKeyOf, saltsOf, saltsUpTo, withoutSalts } from '../../contract/salts.ts';
import type { AuditKey } from '../audit/heads.ts';
import type { Background } from '../background.ts';
import type { DigestedEvents } from '../derive/chunks.ts';
import type { WantsDigests } from '../derive/derive-session.ts';
import { Failures } from '../failures.ts';
import { nameSession } from '../log/damaged.ts';
import type { SessionKey } from '../log/decide.ts';
import { decodeFrame } from '../log/frame.ts';
import { readAppends, type StoredAppend } from '../store/events.ts';
import { findSaltKeys } from '../store/salt-keys.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import type { SessionChainRow } from '../store/schema-governance.ts';
import { findChain, findChains, listUnsigned, readMaskedDigests, writeChains } from '../store/session-chains.ts';
import { findSessions } from '../store/sessions.ts';
import { wholeOrganization } from '../store/viewer.ts';

/** The number of sessions that are signed and written together. */
const AT_ONCE = 64;
/** The bytes that are hashed before other work has its turn: 2 to 5 ms. */
const BYTES_A_TURN = 1024 * 1024;
/** The cost of an event besides its bytes, in bytes. */
const BYTES_AN_EVENT = 512;
/** How long signing waits for digests. Deriving begins 100 ms after an append. */
const PATIENCE_MS = 200;
/** The most digests kept until the next signing, about 10 MB. Events beyond that are read again. */
const MOST_DIGESTS = 100_000;

/** A session with events that are not yet signed. */
interface Noted {
  organizationId: string;
  /** The number of events when the session was last noted. */
  eventCount: number;
  /** Content digests of consecutive events that were derived since then. `first` is the sequence of the first of them. */
  digests: string[];
  first: number;
}

/** How far a session must be signed at least, and the known digests of its events. */
interface Known extends Pick<Noted, 'first' | 'digests'> {
  due: number;
}

export interface WitnessOptions {
  db: Db;
  key: AuditKey;
  background: Background;
  /** Whether the session's events are damaged, so that it is left alone. */
  isDamaged?: (sessionId: string) => boolean;
  now: () => number;
}

/**
 * Countersigns the events of sessions. No part of it delays an append: on every engine, signed heads follow the stored events
 * within a second. After a crash, missing heads are computed from the events. Most events need not be read for that, because
 * deriving reads them anyway and passes on their digests.
 */
export class Witness implements WantsDigests {
  readonly #options: WitnessOptions;
  /** Noted sessions, by id. */
  readonly #noted = new Map<string, Noted>();
  /** The number of kept digests. */
  #digests = 0;

  constructor(options: WitnessOptions) {
    this.#options = options;
  }

  /** Records that a session has changed. */
  note({ organizationId, sessionId, eventCount }: SessionKey & { eventCount: number }): void {
    const noted = this.#noted.get(sessionId);
    if (noted) noted.eventCount = Math.max(noted.eventCount, eventCount);
    else this.#noted.set(sessionId, { organizationId, eventCount, digests: [], first: 0 });
  }

  digestFrom(sessionId: string, next: number): number | undefined {
    const noted = this.#noted.get(sessionId);
    if (!noted || this.#digests >= MOST_DIGESTS) return undefined;
    if (noted.digests.length === 0) noted.first = next;
    return noted.first + noted.digests.length;
  }

  takeDigests(sessionId: string, digested: readonly DigestedEvents[]): void {
    const noted = this.#noted.get(sessionId);
    if (!noted) return;
    for (const { first, digests } of digested) {
      const next = noted.first + noted.digests.length;
      // Digests must be consecutive, without a gap.
      const fresh = first > next ? [] : digests.slice(next - first);
      noted.digests.push(...fresh);
      this.#digests += fresh.length;
    }
  }

  /** Signs the sessions that were noted before this call, soon. */
  async signNoted(): Promise<void> {
    if (this.#noted.size === 0) return;
    await this.#options.background.run('countersign', async (signal) => {
      const failures = new Failures();
      const due = [...this.#noted].map(([sessionId, { organizationId, eventCount }]) => {
        return { sessionId, organizationId, eventCount };
      });
      await wait(PATIENCE_MS, undefined, { signal }).catch(() => undefined);
      for (const [organizationId, sessions] of Map.groupBy(due, (one) => one.organizationId)) {
        for (let at = 0; at < sessions.length && !signal.aborted; at += AT_ONCE) {
          const taken = new Map(
            sessions.slice(at, at + AT_ONCE).map(({ sessionId, eventCount }) => {
              return [sessionId, this.#take(sessionId, eventCount)];
            }),
          );
          const rows = await findSessions(this.#options.db, wholeOrganization(organizationId), [...taken.keys()]);
          await this.#signAll(organizationId, rows, signal, failures, taken);
        }
      }
      failures.throw();
    });
  }

  /** The known digests of events through `due` and later. If there are later events, the session stays noted. */
  #take(sessionId: string, due: number): Known {
    const noted = this.#noted.get(sessionId);
    if (!noted) return { due, first: 0, digests: [] };
    const { organizationId, eventCount, first, digests } = noted;
    this.#digests -= digests.length;
    const reached = Math.max(due, first + digests.length - 1);
    if (eventCount <= reached) this.#noted.delete(sessionId);
    else this.#noted.set(sessionId, { organizationId, eventCount, digests: [], first: reached + 1 });
    return { due, first, digests };
  }

  /** Signs the events that another process left behind. */
  async catchUp(): Promise<void> {
    await this.#options.background.run('countersign all', async (signal) => {
      const failures = new Failures();
      for (let after = ''; !signal.aborted; ) {
        const rows = await listUnsigned(this.#options.db, after, AT_ONCE);
        for (const [organizationId, some] of Map.groupBy(rows, (row) => row.organization_id)) {
          await this.#signAll(organizationId, some, signal, failures);
        }
        const last = rows.at(-1);
        if (last === undefined) break;
        after = last.session_id;
      }
      failures.throw();
    });
  }

  /**
   * Signs all events of a session now. If the session has no machine key yet, it keeps the key that its machine sent.
   * @param signal ends the reading of events
   * @returns undefined if the session was removed in the meantime, or lost its content before any of it was signed
   */
  async sign(
    session: SessionRow,
    machineKey: string | null = null,
    signal?: AbortSignal,
  ): Promise<Evidence | undefined> {
    const { db } = this.#options;
    const place = placeOf(session);
    const next = await this.#advance(session, await findChain(db, place), machineKey, signal);
    if (next) await writeChains(db, [next]);
    const chain = await findChain(db, place);
    if (!chain) return undefined;
    const countersignature = JSON.parse(chain.envelope) as Envelope;
    // The keys come first: if an event is masked between both reads, its salt is removed here.
    const saltKeys = await findSaltKeys(db, place);
    const masked = await readMaskedDigests(db, place, 1, Number(chain.sequence));
    return {
      countersignature: masked.size === 0 ? countersignature : this.#signMasked(countersignature, masked),
      masked: [...masked].map(([sequence, digest]) => ({ sequence, digest })),
      saltKeys: saltsUpTo(withoutSalts(saltKeys, masked.keys()), Number(chain.sequence)),
    };
  }

  /** Signs the head together with the masked events. This is not stored, because masks may be applied at any time. */
  #signMasked(envelope: Envelope, masked: ReadonlyMap<number, string>): Envelope {
    const { key, now } = this.#options;
    const head = openEnvelope(envelope, COUNTERSIGNATURE).statement as Countersigned;
    const signedAt = new Date(now()).toISOString();
    const statement: Countersigned = { ...head, masked: digestOfMasked(masked), signedAt };
    return key.statementOf(COUNTERSIGNATURE, statement);
  }

  /** Collects why some sessions could not be signed: events of a session that is being deleted may already be gone. */
  async #signAll(
    organizationId: string,
    sessions: readonly SessionRow[],
    signal: AbortSignal,
    failures: Failures,
    known?: ReadonlyMap<string, Known>,
  ): Promise<void> {
    const { db } = this.#options;
    const ids = sessions.map(({ session_id }) => session_id);
    const stored = await findChains(db, organizationId, ids);
    const chains: SessionChainRow[] = [];
    for (const session of sessions) {
      if (signal.aborted) return;
      const { session_id: id } = session;
      if (this.#options.isDamaged?.(id)) continue;
      await failures.try(async () => {
        const next = await this.#advance(session, stored.get(id), null, signal, known?.get(id));
        if (next) chains.push(next);
      });
    }
    if (chains.length > 0) await writeChains(db, chains);
  }

  /** The signed head after the session's events; undefined if the stored head is the same. */
  async #advance(
    session: SessionRow,
    stored: SessionChainRow | undefined,
    machineKey: string | null,
    signal?: AbortSignal,
    known?: Known,
  ): Promise<SessionChainRow | undefined> {
    const { key, now } = this.#options;
    const { organization_id, session_id, agent_id, client_key, content_expired_at } = session;
    const isWithoutEvents = content_expired_at !== null;
    if (isWithoutEvents && stored === undefined) return undefined;
    const start = chainStart(agent_id, client_key ?? session_id);
    const head = isWithoutEvents ? (stored ?? start) : await this.#follow(session, stored ?? start, signal, known);
    const machine_key = stored?.machine_key ?? machineKey;
    const isSigned = stored?.sequence === head.sequence && stored.machine_key === machine_key;
    if (isSigned && key.hasSigned(JSON.parse(stored.envelope) as Envelope)) return undefined;
    const signed_at = now();
    const statement: Countersigned = {
      sessionId: session_id,
      agentId: agent_id,
      start: start.hash,
      events: head.sequence,
      head: head.hash,
      ...(machine_key !== null && { machineKey: machine_key }),
      signedAt: new Date(signed_at).toISOString(),
    };
    const envelope = JSON.stringify(key.statementOf(COUNTERSIGNATURE, statement));
    return { session_id, organization_id, sequence: head.sequence, hash: head.hash, machine_key, envelope, signed_at };
  }

  /** Reads the events without a known digest. */
  async #follow(
    session: SessionRow,
    { sequence, hash }: ChainHead,
    signal?: AbortSignal,
    known?: Known,
  ): Promise<ChainHead> {
    const start = { sequence, hash };
    if (!known || known.digests.length === 0) return this.#followStored(session, start, session.event_count, signal);
    const { due, first, digests } = known;
    const before = await this.#followStored(session, start, first - 1, signal);
    // A missing event before these digests is reported below.
    const fresh = before.sequence + 1 < first ? [] : digests.slice(before.sequence + 1 - first);
    return this.#followStored(session, await this.#followDigests(session, before, fresh), due, signal);
  }

  /**
   * The masks are read after the events, so they include every mask that was applied before the events were read. The keys are
   * read between them, so they have the salt of every other event.
   */
  async #followDigests(session: SessionRow, head: ChainHead, contents: readonly string[]): Promise<ChainHead> {
    if (contents.length === 0) return head;
    const { db } = this.#options;
    const place = placeOf(session);
    const first = head.sequence + 1;
    const saltKeys = await findSaltKeys(db, place);
    const isMasked = chainKeyOf(saltKeys) === undefined;
    const masked = isMasked ? await readMaskedDigests(db, place, first, first + contents.length - 1) : NOTHING;
    const saltOf = saltsOf(saltKeys);
    return contents.reduce((now, content) => {
      const sequence = now.sequence + 1;
      const salt = saltOf(sequence);
      const digest = masked.get(sequence) ?? (salt && eventDigest(salt, content));
      if (digest === undefined) throw new Error(`event ${sequence} of ${session.session_id} has no salt in the store`);
      return follow(now, digest);
    }, head);
  }

  async #followStored(session: SessionRow, start: ChainHead, to: number, signal?: AbortSignal): Promise<ChainHead> {
    const { organization_id, session_id } = session;
    let head = start;
    let digests: string[] = [];
    let bytes = 0;
    for await (const append of readAppends(this.#options.db, organization_id, session_id, head.sequence + 1, to)) {
      for (const [index, { eventType, payload }] of decode(session, append).entries()) {
        const at = append.first_sequence + index;
        const next = head.sequence + digests.length + 1;
        if (at < next || at > to) continue;
        if (at > next) throw new Error(`event ${next} of ${session_id} is missing in the store`);
        digests.push(contentDigest(eventType, (payload as Buffer).toString('utf8')));
        bytes += payload.byteLength + BYTES_AN_EVENT;
      }
      if (bytes < BYTES_A_TURN) continue;
      signal?.throwIfAborted();
      head = await this.#followDigests(session, head, digests);
      digests = [];
      bytes = 0;
      await setImmediate();
    }
    return this.#followDigests(session, head, digests);
  }
}

const NOTHING: ReadonlyMap<number, string> = new Map();

function decode(session: SessionRow, append: StoredAppend) {
  try {
    return decodeFrame(append);
  } catch (error) {
    throw nameSession(placeOf(session), error);
  }
}

const placeOf = ({ organization_id, session_id }: SessionRow): SessionKey => ({
  organizationId: organization_id,
  sessionId: session_id,
});
