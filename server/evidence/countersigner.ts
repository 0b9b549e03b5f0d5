import { type ChainHead, chainStart, digestOfMasked } from '../../contract/chain.ts';
import { type Envelope, openEnvelope } from '../../contract/dsse.ts';
import { COUNTERSIGNATURE, type Countersigned, type Evidence } from '../../contract/evidence.ts';
import { chainKeyOf, saltsUpTo, withoutSalts } from '../../contract/salts.ts';
import type { AuditKey } from '../audit/heads.ts';
import type { Background } from '../background.ts';
import { readSome } from '../derive/derive-session.ts';
import type { DeriveThread } from '../derive/derive-thread.ts';
import { SERVICE } from '../idle-worker.ts';
import { naming } from '../log/damaged.ts';
import type { SessionKey } from '../log/decide.ts';
import { findSaltKeys } from '../store/salt-keys.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import { findChain, listUnsigned, readMaskedDigests, writeChain } from '../store/session-chains.ts';
import { findSession } from '../store/sessions.ts';
import { wholeOrganization } from '../store/viewer.ts';

/** The number of unsigned sessions that are listed together. */
const PAGE = 64;

export interface CountersignerOptions {
  db: Db;
  key: AuditKey;
  /** Computes heads, because hashing a session would delay answers. */
  thread: Pick<DeriveThread, 'follow'>;
  background: Background;
  /** Whether the session's events are damaged, so that it is left alone. */
  isDamaged?: (sessionId: string) => boolean;
  now: () => number;
}

/**
 * Countersigns the events of sessions: of one that has ended soon, of one that is requested at once, and of all others when
 * `catchUp` runs. Nothing is remembered between these: the store says which events are unsigned.
 */
export class Countersigner {
  readonly #options: CountersignerOptions;

  constructor(options: CountersignerOptions) {
    this.#options = options;
  }

  /**
   * Signs a session in its organization's turn. Settles when that is done, failed, or was dropped because too many wait; then
   * `catchUp` finds the session.
   */
  signSoon({ organizationId, sessionId, eventCount }: SessionKey & { eventCount: number }): Promise<void> {
    const { db, background, isDamaged } = this.#options;
    if (isDamaged?.(sessionId)) return Promise.resolve();
    // A job for fewer events may have read the session before these events were stored, so it is another job.
    return background.run(
      `countersign ${sessionId} ${eventCount}`,
      async (signal) => {
        const session = await findSession(db, wholeOrganization(organizationId), sessionId);
        if (session) await this.#advance(session, null, signal);
      },
      { group: organizationId },
    );
  }

  /** Signs all sessions with unsigned events. */
  async catchUp(): Promise<void> {
    const { db, background } = this.#options;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const from: string = after;
      let rows: SessionRow[] = [];
      await background.run('list unsigned sessions', async () => {
        rows = await listUnsigned(db, from, PAGE);
      });
      const signing = rows.map(({ organization_id, session_id, event_count }) =>
        this.signSoon({ organizationId: organization_id, sessionId: session_id, eventCount: event_count }),
      );
      await Promise.all(signing);
      after = rows.length < PAGE ? undefined : rows.at(-1)?.session_id;
    }
  }

  /**
   * Signs all events of a session now. If the session has no machine key yet, it keeps the key that its machine sent.
   * @returns undefined if the session was removed in the meantime, or lost its content before any of it was signed
   */
  async sign(session: SessionRow, machineKey: string | null, signal: AbortSignal): Promise<Evidence | undefined> {
    const { db } = this.#options;
    const place = placeOf(session);
    await this.#advance(session, machineKey, signal);
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

  /** Signs the head after the session's events, unless the stored head is the same. */
  async #advance(session: SessionRow, machineKey: string | null, signal: AbortSignal): Promise<void> {
    const { db, key, now } = this.#options;
    const { organization_id, session_id, agent_id, client_key, content_expired_at } = session;
    const stored = await findChain(db, placeOf(session));
    const isWithoutEvents = content_expired_at !== null;
    if (isWithoutEvents && stored === undefined) return;
    const start = chainStart(agent_id, client_key ?? session_id);
    const signed: ChainHead = stored ? { sequence: Number(stored.sequence), hash: stored.hash } : start;
    const head = isWithoutEvents ? signed : await this.#follow(session, signed, signal);
    const machine_key = stored?.machine_key ?? machineKey;
    const isSigned = stored !== undefined && signed.sequence === head.sequence && stored.machine_key === machine_key;
    if (isSigned && key.hasSigned(JSON.parse(stored.envelope) as Envelope)) return;
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
    const { sequence, hash } = head;
    await writeChain(db, { session_id, organization_id, sequence, hash, machine_key, envelope, signed_at });
  }

  /**
   * The masks are read after the events, so they include every mask that was applied before the events were read. The keys are
   * read between them, so they have the salt of every other event.
   */
  async #follow(session: SessionRow, start: ChainHead, signal: AbortSignal): Promise<ChainHead> {
    const { db, thread } = this.#options;
    const place = placeOf(session);
    const asker = { group: session.organization_id, person: SERVICE, signal };
    let head = start;
    for (let isEnd = head.sequence >= session.event_count; !isEnd; ) {
      signal.throwIfAborted();
      const some = await readSome(db, session, head.sequence + 1, 1);
      const last = some.appends.at(-1)?.last_sequence;
      if (last === undefined) return head;
      const saltKeys = await findSaltKeys(db, place);
      const isMasked = chainKeyOf(saltKeys) === undefined;
      const masked = isMasked ? await readMaskedDigests(db, place, head.sequence + 1, last) : NOTHING;
      const { session_id: sessionId, event_count: through } = session;
      const job = { sessionId, head, through, appends: some.appends, saltKeys, masked };
      head = await naming(place, () => thread.follow(job, asker));
      isEnd = some.isEnd;
    }
    return head;
  }
}

const NOTHING: ReadonlyMap<number, string> = new Map();

const placeOf = ({ organization_id, session_id }: SessionRow): SessionKey => ({
  organizationId: organization_id,
  sessionId: session_id,
});
