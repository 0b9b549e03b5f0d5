import { setImmediate } from 'node:timers/promises';
import { type ChainHead, chainStart, eventDigest, follow } from '../../contract/chain.ts';
import type { Envelope } from '../../contract/dsse.ts';
import { COUNTERSIGNATURE, type Countersigned } from '../../contract/evidence.ts';
import type { AuditKey } from '../audit/heads.ts';
import type { Background } from '../background.ts';
import type { SessionKey } from '../log/decide.ts';
import { decodeFrame } from '../log/frame.ts';
import { readAppends } from '../store/events.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import type { SessionChainRow } from '../store/schema-governance.ts';
import { findChain, findChains, listUnsigned, readMaskedDigests, writeChains } from '../store/session-chains.ts';
import { findSessions } from '../store/sessions.ts';
import { wholeOrganization } from '../store/viewer.ts';

/** Sessions that are signed and written together. */
const AT_ONCE = 64;
/** Bytes hashed before others have their turn: 2 to 5 ms. */
const BYTES_A_TURN = 1024 * 1024;
/** What an event costs beside its bytes. */
const BYTES_AN_EVENT = 512;

export interface WitnessOptions {
  db: Db;
  key: AuditKey;
  background: Background;
  now: () => number;
}

/**
 * Countersigns what the service has of sessions. Nothing of it is on the way of an append: heads follow the stored events
 * within a second, on every engine, and what a crash left is made up from the events.
 */
export class Witness {
  readonly #options: WitnessOptions;
  /** Sessions with new events, by their ids, with their organizations. */
  #waiting = new Map<string, string>();

  constructor(options: WitnessOptions) {
    this.#options = options;
  }

  /** Notes that a session has changed. */
  note({ organizationId, sessionId }: SessionKey): void {
    this.#waiting.set(sessionId, organizationId);
  }

  /** Signs the sessions that were noted. */
  async signNoted(): Promise<void> {
    if (this.#waiting.size === 0) return;
    await this.#options.background.run('countersign', async (signal) => {
      const noted = [...this.#waiting];
      this.#waiting = new Map();
      const byOrganization = Map.groupBy(noted, ([, organizationId]) => organizationId);
      for (const [organizationId, sessions] of byOrganization) {
        for (let at = 0; at < sessions.length && !signal.aborted; at += AT_ONCE) {
          const ids = sessions.slice(at, at + AT_ONCE).map(([sessionId]) => sessionId);
          const rows = await findSessions(this.#options.db, wholeOrganization(organizationId), ids);
          await this.#signAll(organizationId, rows, signal);
        }
      }
    });
  }

  /** Signs what another process left. */
  async catchUp(): Promise<void> {
    await this.#options.background.run('countersign all', async (signal) => {
      for (let after = ''; !signal.aborted; ) {
        const rows = await listUnsigned(this.#options.db, after, AT_ONCE);
        for (const [organizationId, some] of Map.groupBy(rows, (row) => row.organization_id)) {
          await this.#signAll(organizationId, some, signal);
        }
        const last = rows.at(-1);
        if (last === undefined) return;
        after = last.session_id;
      }
    });
  }

  /**
   * Signs all of a session now, and keeps the key that its machine names, if it has none.
   * @returns undefined where it was removed meanwhile, or lost its words before any of it was signed
   */
  async sign(session: SessionRow, machineKey: string | null = null): Promise<SessionChainRow | undefined> {
    const { db } = this.#options;
    const next = await this.#advance(session, await findChain(db, placeOf(session)), machineKey);
    if (next) await writeChains(db, [next]);
    return findChain(db, placeOf(session));
  }

  async #signAll(organizationId: string, sessions: readonly SessionRow[], signal: AbortSignal): Promise<void> {
    const { db } = this.#options;
    const ids = sessions.map(({ session_id }) => session_id);
    const stored = await findChains(db, organizationId, ids);
    const chains: SessionChainRow[] = [];
    for (const session of sessions) {
      if (signal.aborted) return;
      const next = await this.#advance(session, stored.get(session.session_id), null);
      if (next) chains.push(next);
    }
    if (chains.length > 0) await writeChains(db, chains);
  }

  /** The signed head behind all events of the session; undefined where the stored one says the same. */
  async #advance(
    session: SessionRow,
    stored: SessionChainRow | undefined,
    machineKey: string | null,
  ): Promise<SessionChainRow | undefined> {
    const { key, now } = this.#options;
    const { organization_id, session_id, agent_id, client_key, event_count, content_expired_at } = session;
    const isWithoutEvents = content_expired_at !== null;
    if (isWithoutEvents && stored === undefined) return undefined;
    const start = chainStart(agent_id, client_key ?? session_id);
    const head = isWithoutEvents ? (stored ?? start) : await this.#follow(session, stored ?? start, event_count);
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

  async #follow(session: SessionRow, { sequence, hash }: ChainHead, to: number): Promise<ChainHead> {
    const { organization_id, session_id } = session;
    let head: ChainHead = { sequence, hash };
    let digests: string[] = [];
    let bytes = 0;
    const add = async () => {
      // Behind the events: what was masked before they were read is among it.
      const first = head.sequence + 1;
      const masked = await readMaskedDigests(this.#options.db, placeOf(session), first, first + digests.length - 1);
      for (const digest of digests) head = follow(head, masked.get(head.sequence + 1) ?? digest);
      digests = [];
      bytes = 0;
    };
    for await (const append of readAppends(this.#options.db, organization_id, session_id, sequence + 1, to)) {
      for (const [index, { eventType, payload }] of decodeFrame(append).entries()) {
        const at = append.first_sequence + index;
        const next = head.sequence + digests.length + 1;
        if (at < next || at > to) continue;
        if (at > next) throw new Error(`event ${next} of ${session_id} is missing in the store`);
        digests.push(eventDigest(eventType, (payload as Buffer).toString('utf8')));
        bytes += payload.byteLength + BYTES_AN_EVENT;
      }
      if (bytes < BYTES_A_TURN) continue;
      await add();
      await setImmediate();
    }
    if (digests.length > 0) await add();
    return head;
  }
}

const placeOf = ({ organization_id, session_id }: SessionRow): SessionKey => ({
  organizationId: organization_id,
  sessionId: session_id,
});
