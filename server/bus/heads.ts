import { Problem } from '../../contract/problem.ts';
import { isUnavailable, storeUnavailable } from '../store/dialect.ts';
import { findKeyedAppend, type KeyedAppend, readLogState } from '../store/log-state.ts';
import type { Db } from '../store/open.ts';
import type { Bus } from './bus.ts';
import { within } from './deadline.ts';
import { type Entry, type Logged, type SessionPlace, writePlace } from './entry.ts';
import { type Known, take, unknown } from './head.ts';

/** What is to be added to a session's subject. */
export interface Proposal {
  entry: Entry;
  body?: Uint8Array | undefined;
}

type Propose = (known: Known) => Proposal | undefined;

interface Change {
  place: string;
  whose: SessionPlace;
  propose: Propose;
  key: string | null | undefined;
  /** Not begun after this, as of `performance.now`. */
  until: number;
}

/** The heads of sessions, as far as this replica knows them, and the one way to add to their subjects. */
export interface Heads {
  /**
   * Adds what `propose` says of the session as it is: it is asked again each time somebody else was faster, and throws
   * nothing. Undefined: nothing is to be added.
   * @param key what it must know of, if anything
   * @throws Problem `service_unavailable`
   */
  change(place: SessionPlace, propose: Propose, key?: string | null): Promise<void>;
  /**
   * Begins the subject of a session that nobody else knows yet; where it has begun, nothing is added.
   * @throws Problem `service_unavailable`
   */
  begin(place: SessionPlace, proposal: Proposal): Promise<void>;
  /** Asks anew from now on: the bus may have come back without what it had. */
  forget(): void;
}

/** Keys of appends that are kept in memory, about 300 bytes each; beyond, sessions are forgotten and asked for again. */
const MOST_KEYS = 200_000;
const MOST_SESSIONS = 20_000;
/** Times that another replica may be faster. */
const MOST_ATTEMPTS = 20;
/** How long a change may take with the others of its session in front of it. After that its caller is told to try again. */
const LONGEST_CHANGE_MS = 8_000;
/** How long the store may take to answer what a change asks of it. */
const LONGEST_LOOKUP_MS = 4_000;

type Asked = Pick<Bus, 'publish' | 'next' | 'nextDeadLetter' | 'history'>;

export function createHeads({ bus, db }: { bus: Asked; db: Db }): Heads {
  /** The least lately used one first. */
  const heads = new Map<string, Known>();
  const turns = new Map<string, Promise<unknown>>();
  let keys = 0;
  /** Raised where what is known is to be forgotten, also by those who are at work. */
  let era = 0;

  function keep(place: string, known: Known): void {
    drop(place);
    // Of a session that is not there nothing is to be remembered: ids come from callers.
    if (known.sequence === 0 && !known.head) return;
    heads.set(place, known);
    keys += known.keys.size;
    for (const oldest of heads.keys()) {
      if (oldest === place || (heads.size <= MOST_SESSIONS && keys <= MOST_KEYS)) break;
      drop(oldest);
    }
  }

  function drop(place: string): void {
    keys -= heads.get(place)?.keys.size ?? 0;
    heads.delete(place);
  }

  /**
   * From the bus alone where it has the session from its opening on; else from the store, and on top of it what the bus
   * has. The bus is asked first: what it gets meanwhile is then noticed when something is added, and what is no longer
   * a dead letter is in the store.
   */
  async function learn(place: string, whose: SessionPlace): Promise<Known> {
    const logged = await bus.history(place);
    const known = logged[0]?.entry.kind === 'opened' ? unknown() : await recall(place, whose);
    for (const one of logged) take(known, one);
    return known;
  }

  async function recall(place: string, { organizationId, sessionId }: SessionPlace): Promise<Known> {
    const known = unknown();
    const dead: Logged[] = [];
    for (
      let next = await bus.nextDeadLetter(place, 1);
      next;
      next = await bus.nextDeadLetter(place, next.sequence + 1)
    ) {
      dead.push(next);
    }
    const state = await ofStore(readLogState(db, organizationId, sessionId));
    if (!state) return known;
    const { plane, status, event_count: eventCount, client_ended_at: clientEndedAt } = state.session;
    known.head = { plane, status, eventCount, clientEndedAt };
    known.hasAllKeys = state.keys !== undefined;
    // What could not be written was acknowledged all the same.
    for (const { entry } of dead) take(known, { sequence: 0, entry });
    for (const row of state.keys ?? []) takeKey(known, row);
    return known;
  }

  /** @returns whether there was anything new */
  async function catchUp(place: string, known: Known): Promise<boolean> {
    const before = known.sequence;
    for (let next = await bus.next(place, before + 1); next; next = await bus.next(place, known.sequence + 1)) {
      take(known, next);
    }
    return known.sequence > before;
  }

  async function changeNow({ place, whose, propose, key, until }: Change): Promise<void> {
    if (performance.now() > until) throw tooSlow();
    const asOf = era;
    let known = heads.get(place) ?? (await learn(place, whose));
    // Where something fails nobody knows what the bus has; the next one asks it.
    drop(place);
    for (let attempt = 0; attempt < MOST_ATTEMPTS && performance.now() < until; attempt++) {
      if (key && !known.hasAllKeys && !known.keys.has(key)) {
        const row = await ofStore(findKeyedAppend(db, whose.organizationId, whose.sessionId, key));
        if (row) takeKey(known, row);
      }
      const proposal = propose(known);
      const sequence = proposal && (await bus.publish({ place, behind: known.sequence, ...proposal }));
      if (proposal && sequence !== undefined) take(known, { sequence, entry: proposal.entry });
      if (!proposal || sequence !== undefined) {
        if (era === asOf) keep(place, known);
        return;
      }
      // Nothing new where what was the last message is no longer on the bus.
      if (!(await catchUp(place, known))) known = await learn(place, whose);
    }
    throw new Problem('service_unavailable', 'Too many write to this session at once. Try again.', { retryAfter: 1 });
  }

  return {
    async change(whose, propose, key) {
      const place = writePlace(whose);
      if (place === undefined) {
        propose(unknown());
        return;
      }
      const until = performance.now() + LONGEST_CHANGE_MS;
      const before = turns.get(place);
      const turn = (before ?? Promise.resolve())
        .catch(() => undefined)
        .then(() => changeNow({ place, whose, propose, key, until }))
        .finally(() => {
          if (turns.get(place) === turn) turns.delete(place);
        });
      turns.set(place, turn);
      return within(LONGEST_CHANGE_MS, turn, tooSlow);
    },

    async begin(whose, proposal) {
      const place = writePlace(whose);
      const sequence = place && (await bus.publish({ place, behind: 0, ...proposal }));
      if (!place || !sequence) return;
      const known = unknown();
      take(known, { sequence, entry: proposal.entry });
      keep(place, known);
    },

    forget() {
      heads.clear();
      keys = 0;
      era++;
    },
  };
}

function takeKey(known: Known, row: KeyedAppend): void {
  const { append_id: appendId, fingerprint, first_sequence: firstSequence, last_sequence: lastSequence } = row;
  known.keys.set(row.idempotency_key as string, { appendId, fingerprint, firstSequence, lastSequence });
}

const ofStore = <Answer>(question: Promise<Answer>): Promise<Answer> =>
  within(LONGEST_LOOKUP_MS, question, () => storeUnavailable('it did not answer in time')).catch((error) => {
    throw isUnavailable(error) ? storeUnavailable(error) : error;
  });

/** The change may be made all the same: its caller sends it again under its key. */
const tooSlow = () =>
  new Problem(
    'service_unavailable',
    'The session could not be changed in time. Try again with the same idempotency key.',
    {
      retryAfter: 1,
    },
  );
