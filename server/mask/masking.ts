import { setTimeout as wait } from 'node:timers/promises';
import { createMarker } from '../../redact/mark.ts';
import { createTextSearch } from '../../redact/text-search.ts';
import type { Background } from '../background.ts';
import type { SessionKey } from '../log/decide.ts';
import { readAppends } from '../store/events.ts';
import {
  claimMask,
  findMask,
  finishMask,
  insertMask,
  listUnfinishedMasks,
  type MaskedAppend,
  MaskHeld,
  OWN_FIELDS,
  type OwnFields,
  releaseMask,
  stopMask,
  TODAYS_RULES,
  writeMasked,
} from '../store/masks.ts';
import { isPostgres } from '../store/postgres.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import type { MaskRow } from '../store/schema-governance.ts';
import { findSession } from '../store/sessions.ts';
import { wholeOrganization } from '../store/viewer.ts';
import { sliceOf } from '../work.ts';
import { EventMasker } from './event-masker.ts';
import { findByRules } from './find-by-rules.ts';
import { type Finder, findText, replaceEach } from './finder.ts';
import { markKey, seal, unseal } from './seal.ts';

export interface MaskingOptions {
  db: Db;
  background: Pick<Background, 'run'>;
  pepper: string;
  now: () => number;
  /** Where events may be on their way into the store; absent where all that was acknowledged is in it. */
  bus?: OnItsWay | undefined;
  /** Called when a session is masked: it is to be derived again. */
  onMasked: (session: SessionRow) => Promise<void>;
}

/** Events between their acknowledgement and the store. */
export interface OnItsWay {
  /** Events of the session that were acknowledged, written or not. */
  countAccepted(place: SessionKey): Promise<number>;
  /** Removes what the store has of a session, as it was sent; false: not all of it is settled yet. */
  removeWritten(place: SessionKey, eventCount: number): Promise<boolean>;
}

/** What is masked, or would be. */
export interface Counts {
  mark: string;
  events: number;
  places: number;
  fields: number;
}

/** What a mark is named after where a member marked a text. */
const RULE = 'manual';
/** How long a request waits for the end of masking, in milliseconds. */
const PATIENCE_MS = 20_000;
/** After that another process goes on; each write begins it anew. */
const CLAIM_MS = 60_000;
/** Masked appends that are written together: appends of others wait for their transaction. */
const LARGEST_GROUP = { appends: 20, bytes: 1024 * 1024 };
/** By rules: what one event tells of another is lost where a crash is between them. */
const LARGEST_GROUP_BY_RULES = { appends: 200, bytes: 8 * 1024 * 1024 };
const LISTED_AT_ONCE = 100;
/** How long a mask waits for events that are on their way, in milliseconds, before others have their turn. */
const LONGEST_WAIT_MS = 5_000;
const LOOK_EVERY_MS = 100;
/** Somebody else masks the same session: its appends are read again. */
const MOST_TRIES = 20;

/**
 * Masks texts in stored sessions.
 *
 * | a mask      | when                                 | becomes                                  |
 * | ----------- | ------------------------------------ | ---------------------------------------- |
 * | –           | a member marks a text                | running; its text is kept encrypted      |
 * | running     | each transaction                     | running, some appends further            |
 * | running     | the process stops                    | running, once another process claims it  |
 * | running     | events are on their way for too long | running, once its turn comes again       |
 * | running     | the session is held                  | held; its text is forgotten              |
 * | running     | it has read what came until then     | done; its text is forgotten              |
 */
export class Masking {
  readonly #options: MaskingOptions;

  constructor(options: MaskingOptions) {
    this.#options = options;
  }

  /** Counts what would be masked, and changes nothing. */
  async count(session: SessionRow, text: string): Promise<Counts> {
    const mark = this.#markOf(session.session_id, text);
    const wanted = findText(createTextSearch(text), mark);
    const counts = { mark, events: 0, places: 0, fields: maskFields(session, wanted).places };
    for await (const group of maskedAppends(this.#options.db, session, wanted)) {
      for (const { events } of group) {
        counts.events += events.length;
        counts.places += events.reduce((sum, { count }) => sum + count, 0);
      }
    }
    return counts;
  }

  /**
   * Masks a text; resolves when that is done, or has taken long and goes on by itself.
   * @param along what is written in the transaction that asks for it
   * @throws MaskHeld
   */
  async mask(
    { organizationId, sessionId }: SessionKey,
    userId: string,
    text: string,
    along?: (transaction: Db) => Promise<void>,
  ): Promise<MaskRow> {
    const { db, pepper, now, bus } = this.#options;
    const mark = this.#markOf(sessionId, text);
    const sealed = seal(pepper, sessionId, text);
    const acceptedEvents = (await bus?.countAccepted({ organizationId, sessionId })) ?? 0;
    const asked = { organizationId, sessionId, userId, mark, sealed, acceptedEvents };
    const row = await insertMask(db, asked, now(), along);
    const over = new AbortController();
    await Promise.race([
      this.#start(row),
      wait(PATIENCE_MS, undefined, { signal: over.signal }).catch(() => undefined),
    ]);
    over.abort();
    return (await findMask(db, organizationId, row.mask_id)) ?? row;
  }

  /** Goes on with what another process has left. */
  async resume(signal: AbortSignal): Promise<void> {
    for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
      const rows: MaskRow[] = await listUnfinishedMasks(this.#options.db, after, LISTED_AT_ONCE);
      for (const row of rows) void this.#start(row);
      after = rows.length < LISTED_AT_ONCE ? undefined : rows.at(-1)?.mask_id;
    }
  }

  #start(row: MaskRow): Promise<void> {
    const work = (signal: AbortSignal) => this.#run(row, signal);
    return this.#options.background.run(`mask ${row.mask_id}`, work, { group: row.organization_id });
  }

  async #run({ organization_id: organizationId, mask_id }: MaskRow, signal: AbortSignal): Promise<void> {
    const { db, now } = this.#options;
    // No other process has an embedded store, and in this one a mask runs once at a time.
    const until = () => (isPostgres(db) ? now() + CLAIM_MS : 0);
    const mask = await claimMask(db, organizationId, mask_id, now(), until());
    if (!mask || mask.sealed === null) return;
    const wanted = this.#finderOf(mask.session_id, mask.sealed);
    try {
      const session = await this.#maskEvents(mask, wanted, until, signal);
      const isAll = !session || (await this.#clearBus(mask, session, signal));
      if (signal.aborted || !isAll) return void (await releaseMask(db, mask));
      await finishMask(db, mask, (fields) => maskFields(fields, wanted), now());
      if (session) await this.#options.onMasked(session);
    } catch (error) {
      if (!(error instanceof MaskHeld)) throw error;
      await stopMask(db, mask, now());
    }
  }

  /**
   * Waits until the bus has nothing of the session as it was sent: what was on its way when the mask was asked for is written,
   * and removed from there.
   * @returns false where that takes too long, or new events came meanwhile
   */
  async #clearBus({ accepted_events }: MaskRow, session: SessionRow, signal: AbortSignal): Promise<boolean> {
    const { organization_id: organizationId, session_id: sessionId, event_count: eventCount } = session;
    const { bus } = this.#options;
    if (!bus) return true;
    if (eventCount < Number(accepted_events)) return false;
    return poll(() => bus.removeWritten({ organizationId, sessionId }, eventCount), signal);
  }

  /**
   * Masks the events that were acknowledged when the mask was asked for, and those that came until all of these were read: a
   * session that grows all the time is read once.
   * @returns the session, with the events that it has by then; undefined where it is gone
   */
  async #maskEvents(mask: MaskRow, wanted: Finder, until: () => number, signal: AbortSignal) {
    const { db, now } = this.#options;
    const read = () => findSession(db, wholeOrganization(mask.organization_id), mask.session_id);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const session = await read();
      if (!session || signal.aborted) return session;
      if (!(await this.#maskOnce(mask, session, wanted, until, signal))) continue;
      const after = await read();
      return after && { ...after, updated_at: now() };
    }
    throw new Error('appends were changed again and again by somebody else');
  }

  /** @returns how many events the session has, once those are there that were on their way, or that takes too long */
  async #countArrived({ organization_id, session_id, accepted_events }: MaskRow, signal: AbortSignal): Promise<number> {
    const viewer = wholeOrganization(organization_id);
    let count = 0;
    await poll(async () => {
      const session = await findSession(this.#options.db, viewer, session_id);
      count = session?.event_count ?? 0;
      return !session || count >= Number(accepted_events);
    }, signal);
    return count;
  }

  /** @returns false where it was stopped, or somebody else changed an append meanwhile */
  async #maskOnce(mask: MaskRow, session: SessionRow, wanted: Finder, until: () => number, signal: AbortSignal) {
    const { db, now } = this.#options;
    const largest = mask.sealed === TODAYS_RULES ? LARGEST_GROUP_BY_RULES : LARGEST_GROUP;
    for await (const group of maskedAppends(db, session, wanted, () => this.#countArrived(mask, signal), largest)) {
      if (signal.aborted) return false;
      if (!(await writeMasked(db, mask, group, now(), until()))) return false;
    }
    return true;
  }

  #finderOf(sessionId: string, sealed: string): Finder {
    const { pepper } = this.#options;
    if (sealed === TODAYS_RULES) return findByRules(markKey(pepper), sessionId);
    const text = unseal(pepper, sessionId, sealed);
    return findText(createTextSearch(text), this.#markOf(sessionId, text));
  }

  #markOf(sessionId: string, text: string): string {
    return createMarker(markKey(this.#options.pepper), sessionId)(RULE, text);
  }
}

/** Asks again and again, for a while; false: that was not long enough. */
async function poll(ask: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const end = performance.now() + LONGEST_WAIT_MS;
  while (!signal.aborted) {
    if (await ask()) return true;
    if (performance.now() > end) return false;
    await wait(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

/**
 * The appends of a session in which something is to be masked, in groups that are written together.
 * @param countGrown asked once, when all events of the row were read: how many the session has then; absent: no more
 */
async function* maskedAppends(
  db: Db,
  session: SessionRow,
  wanted: Finder,
  countGrown = async () => session.event_count,
  largest = LARGEST_GROUP,
): AsyncGenerator<MaskedAppend[]> {
  const masker = new EventMasker(wanted);
  let group: MaskedAppend[] = [];
  let bytes = 0;
  for await (const append of readGrowing(db, session, countGrown)) {
    const masked = await sliceOf(append.body.byteLength * LIKELY_RATIO, () => masker.add(append));
    group.push(...masked);
    bytes += masked.reduce((sum, { body }) => sum + body.byteLength, 0);
    if (group.length >= largest.appends || bytes >= largest.bytes) {
      yield group;
      [group, bytes] = [[], 0];
    }
  }
  group.push(...masker.end());
  if (group.length > 0) yield group;
}

async function* readGrowing(db: Db, session: SessionRow, countGrown: () => Promise<number>) {
  const { organization_id: organizationId, session_id: sessionId, event_count: eventCount } = session;
  yield* readAppends(db, organizationId, sessionId, 1, eventCount);
  const grown = await countGrown();
  yield* readAppends(db, organizationId, sessionId, eventCount + 1, grown);
}

/** How many times larger the events are than their compressed form, about. */
const LIKELY_RATIO = 8;

function maskFields(before: OwnFields, wanted: Finder): { fields: OwnFields; places: number } {
  const { title, repo_root, repository, git_branch } = before;
  const fields: OwnFields = { title, repo_root, repository, git_branch };
  let places = 0;
  for (const name of OWN_FIELDS) {
    const text = fields[name];
    const found = text === null ? [] : wanted.inText(text);
    if (text === null || found.length === 0) continue;
    places += found.length;
    fields[name] = replaceEach(text, found);
  }
  return { fields, places };
}
