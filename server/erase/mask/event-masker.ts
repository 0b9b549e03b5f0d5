import { contentDigest } from '../../../contract/chain.ts';
import { tokensOf } from '../../../redact/json-places.ts';
import { endOf, type Level, readEscaped, startOf } from '../../../redact/places.ts';
import { isPart } from '../../../transcript/parts.ts';
import { VOCABULARY } from '../../../transcript/vocabulary.ts';
import { pack } from '../../log/codec.ts';
import { decodeFrame, encodeFrame } from '../../log/frame.ts';
import type { StoredAppend } from '../../store/events.ts';
import { type Finder, isSlice, type Replacement, replaceEach } from './finder.ts';
import type { MaskedAppend, MaskedEvent } from './masked-events.ts';

interface Event {
  eventType: string;
  typeBefore: string;
  before: string;
  payload: string;
  count: number;
}

interface Open {
  append: StoredAppend;
  events: Event[];
  /** How many events may still belong to a payload that continues in later events. */
  unsettled: number;
}

/** A part of a payload in a run of parts. */
interface Part {
  event: Event;
  owner: Open;
  part: number;
  of: number;
  /** How many characters of the payload it has. */
  length: number;
}

/**
 * At least this many parts of a payload are searched together. The last ones are searched again with the following ones, so a
 * text that spans the border is found, too.
 */
const MIN_PARTS = 64;
/**
 * The most parts in memory, about 50 MB of short ones. Clients send parts of 256 KiB; only shorter parts than the text can
 * become so many.
 */
const MAX_PARTS = 50_000;

/**
 * Masks the appends of a session, which must be added in order. A text that is split over two parts is found in the joined
 * payload, so an append waits until the payload of its last part is complete. Appends that one call returns must be written
 * together.
 */
export class EventMasker {
  readonly #finder: Finder;
  readonly #mostParts: number;
  #open: Open[] = [];
  #run: Part[] = [];
  /** How many characters the run has. */
  #length = 0;
  #isComplete = true;

  constructor(finder: Finder, mostParts = MAX_PARTS) {
    this.#finder = finder;
    this.#mostParts = mostParts;
  }

  /** Whether every text was found that the finder can find. False: it may be in parts that are too many and too short. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Whether no append waits for later ones. */
  get isSettled(): boolean {
    return this.#open.length === 0;
  }

  add(append: StoredAppend): MaskedAppend[] {
    const events = decodeFrame(append).map(({ eventType, payload }) => {
      const before = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('utf8');
      return { eventType, typeBefore: eventType, before, payload: before, count: 0 };
    });
    const owner: Open = { append, events, unsettled: events.length };
    this.#open.push(owner);
    for (const event of events) this.#take(event, owner);
    return this.#settled();
  }

  end(): MaskedAppend[] {
    this.#closeRun();
    return this.#settled();
  }

  #take(event: Event, owner: Open): void {
    const part = readPart(event.payload);
    const last = this.#run.at(-1);
    const goesOn =
      part && last && last.event.eventType === event.eventType && last.of === part.of && last.part + 1 === part.part;
    if (!goesOn) this.#closeRun();
    this.#maskType(event);
    if (!part) {
      this.#replace(event, this.#finder.inJson(event.payload, event.typeBefore));
      owner.unsettled--;
      return;
    }
    this.#replace(event, this.#finder.inPart(event.payload));
    const { length } = sliceOf(event.payload).text;
    this.#run.push({ event, owner, ...part, length });
    this.#length += length;
    const { reach } = this.#finder;
    if (part.part >= part.of) this.#closeRun();
    else if (this.#run.length >= MIN_PARTS && this.#length >= 2 * reach) this.#closeRun(this.#countLast(reach));
    else if (this.#run.length >= this.#mostParts) {
      this.#isComplete = false;
      this.#closeRun(this.#mostParts >> 1);
    }
  }

  /** How many of the last parts have this many characters. */
  #countLast(characters: number): number {
    let parts = 0;
    for (let left = characters; left > 0; left -= this.#run.at(-parts)?.length ?? left) parts++;
    return parts;
  }

  /** A type outside of the vocabulary is free text of a client, so it is searched, too. */
  #maskType(event: Event): void {
    if (Object.hasOwn(VOCABULARY, event.eventType)) return;
    const places = this.#finder.inText(event.eventType);
    event.eventType = replaceEach(event.eventType, places);
    event.count += places.length;
  }

  /** @param kept how many parts at the end of the run are searched once more, together with the following parts */
  #closeRun(kept = 0): void {
    const run = this.#run;
    this.#run = kept === 0 ? [] : run.slice(-kept);
    this.#length = this.#run.reduce((sum, { length }) => sum + length, 0);
    if (run.length > 0) this.#maskTogether(run);
    for (const { owner } of run.slice(0, run.length - kept)) owner.unsettled--;
  }

  #maskTogether(run: readonly Part[]): void {
    const slices = run.map(({ event }) => sliceOf(event.payload));
    const whole = slices.map(({ text }) => text).join('');
    const isWhole = run[0]?.part === 1 && run.at(-1)?.part === run[0].of && isJson(whole);
    const places = isWhole ? this.#finder.inJson(whole, run[0]?.event.typeBefore ?? '') : this.#finder.inText(whole);
    let begin = 0;
    for (const [index, { event }] of run.entries()) {
      const slice = slices[index] as Slice;
      const end = begin + slice.text.length;
      const pieces = places.flatMap((place): Replacement[] => {
        const [from, to] = [Math.max(place.start, begin), Math.min(place.end, end)];
        if (from >= to) return [];
        // The mark replaces the beginning of the text. The rest of the text is removed from the later parts.
        const isHere = place.start >= begin;
        const shown = JSON.stringify(place.text).slice(1, -1);
        if (isHere) event.count++;
        const start = slice.first + startOf(slice, from - begin);
        const stop = slice.first + endOf(slice, to - begin - 1);
        return [{ start, end: stop, text: isHere ? shown : '' }];
      });
      if (pieces.length > 0) event.payload = replaceEach(event.payload, pieces);
      begin = end;
    }
  }

  #replace(event: Event, places: readonly Replacement[]): void {
    if (places.length === 0) return;
    event.payload = replaceEach(event.payload, places);
    event.count += places.length;
  }

  #settled(): MaskedAppend[] {
    const until = this.#open.findIndex(({ unsettled }) => unsettled > 0);
    const settled = until === -1 ? this.#open : this.#open.slice(0, until);
    this.#open = until === -1 ? [] : this.#open.slice(until);
    return settled.flatMap(({ append, events }) => {
      const masked = events.flatMap(({ typeBefore, before, payload, count }, index): MaskedEvent[] =>
        payload === before && count === 0
          ? []
          : [{ sequence: append.first_sequence + index, content: contentDigest(typeBefore, before), count }],
      );
      return masked.length === 0 ? [] : [{ append, events: masked, ...frameOf(events) }];
    });
  }
}

const frameOf = (events: readonly Event[]) =>
  pack(encodeFrame(events.map(({ eventType, payload }) => ({ eventType, payload: Buffer.from(payload) }))));

function readPart(payload: string): { part: number; of: number } | undefined {
  if (!payload.includes('"json"') || !payload.includes('"part"')) return undefined;
  const value = parse(payload);
  if (!isPart(value) || typeof value.json !== 'string') return undefined;
  const { part, of } = value;
  return Number.isInteger(part) && Number.isInteger(of) && part >= 1 && part <= of ? { part, of } : undefined;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const isJson = (text: string) => parse(text) !== undefined;

/** The slice of a payload in a part. */
interface Slice extends Level {
  /** Its start in the text of the part. */
  first: number;
}

function sliceOf(payload: string): Slice {
  // Of several equal names the last counts, as in `JSON.parse`.
  const token = [...tokensOf(payload)].findLast(isSlice);
  if (!token) return { text: '', first: 0 };
  const first = token.start + 1;
  return { ...readEscaped(payload.slice(first, token.end - 1)), first };
}
