import { isPart } from '../../contract/parts.ts';
import type { OpenFrame } from '../store/frame.ts';
import type { AppendOf } from '../store/stretches.ts';
import type { Stretch } from '../store/words.ts';
import type { Steps as Work } from '../work.ts';
import type { createJoiner, RawEvent, WholeEvent } from './join.ts';
import type { Matcher } from './matcher.ts';

type Joiner = ReturnType<typeof createJoiner>;

type Place = OpenFrame['events'][number];

/** Events whose payloads lie behind each other, in one piece of memory that is looked over at once. */
interface Group {
  events: { raw: RawEvent; start: number; end: number }[];
  /** Their JSON, each byte as a letter. */
  json: string;
}

/** Bytes that are looked over at once, at most, unless one event has more. */
const GLANCED_AT_ONCE = 256 * 1024;

/** The events of a stretch that an append has. */
export function* groupsOf(append: AppendOf, { plain, events }: OpenFrame, { first, last }: Stretch): Generator<Group> {
  const { first_sequence: begin, created_at: createdAt } = append;
  const ours = events.slice(Math.max(0, first - begin), last - begin + 1);
  const sequence = Math.max(first, begin);
  for (let from = 0, to = 0; from < ours.length; from = to) {
    const { start } = ours[from] as Place;
    const goesOn = (next: Place | undefined, before: Place) =>
      next !== undefined && start >= 0 && next.start >= before.end && next.end - start <= GLANCED_AT_ONCE;
    for (to = from + 1; goesOn(ours[to], ours[to - 1] as Place); ) to++;
    const group = ours.slice(from, to).map(({ eventType, start, end }, n) => {
      return { raw: { sequence: sequence + from + n, eventType, createdAt }, start, end };
    });
    // What is looked for at a glance is ASCII: 3,000 letters take 1 µs so, and 5 where they are decoded.
    yield { events: group, json: start < 0 ? '{}' : plain.toString('latin1', start, group.at(-1)?.end) };
  }
}

const PART = '"part":';
const EMPTY = Buffer.from('{}');

/** The events in which terms may stand; a payload that came in parts as one, as soon as its last part is there. */
export function* glanceAt(
  { events, json }: Group,
  { plain }: OpenFrame,
  matcher: Matcher,
  joiner: Joiner,
): Work<WholeEvent[]> {
  const begin = events[0]?.start ?? 0;
  const glanced = yield* matcher.glance(json, events);
  const mayHaveParts = json.includes(PART);
  const found: WholeEvent[] = [];
  for (const [n, { raw, start, end }] of events.entries()) {
    const bytes = start < 0 ? EMPTY : plain.subarray(start, end);
    const mayBePart = mayHaveParts && json.slice(start - begin, end - begin).includes(PART);
    const part = mayBePart ? parse(bytes) : undefined;
    if (isPart(part)) {
      found.push(...joiner.add(raw, part));
      continue;
    }
    found.push(...joiner.end());
    const places = glanced[n] as readonly number[];
    // A copy of what is in a large append, which may have 13 MB: the others of the stretch are waited for.
    const kept = plain.byteLength > GLANCED_AT_ONCE ? Buffer.from(bytes) : bytes;
    if (places.length > 0) found.push({ ...raw, places, payload: () => parse(kept) });
  }
  return found;
}

function parse(json: Buffer): unknown {
  try {
    return JSON.parse(json.toString('utf8'));
  } catch {
    return undefined;
  }
}
