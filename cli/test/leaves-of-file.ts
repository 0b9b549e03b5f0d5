import { readFileSync } from 'node:fs';
import { isPart, joinParts, type Part } from '../../transcript/parts.ts';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import type { JsonObject } from '../agents/agent.ts';
import { isObject } from '../agents/shared/part.ts';
import { parseExact } from '../exact.ts';
import { compareLeaves, leavesOf } from './agents/leaves.ts';
import type { Captured } from './by-file.ts';
import type { CorpusFile } from './worlds.ts';

export interface FileCheck {
  records: number;
  leaves: number;
  problems: string[];
}

/**
 * Checks that the events of a whole file of lines have all its content exactly once. The leaves of a record are compared with
 * all bytes up to the next record, so that skipped bytes are found as well.
 */
export function checkLines(
  { agent, from, transcripts: [transcript] }: CorpusFile,
  events: readonly Captured[],
): FileCheck {
  const bytes = readFileSync(from);
  const byPosition = Map.groupBy(events, ({ payload }) => payload.source.position);
  const positions = [...byPosition.keys()].sort((one, other) => one - other);
  const keys = new Map<string, string>();
  const check: FileCheck = { records: 0, leaves: 0, problems: [] };
  const complain = (position: number, what: string) => check.problems.push(`${position}: ${what}`);

  function compare(position: number, text: string): void {
    check.records++;
    const captured = joined(byPosition.get(position) ?? []);
    const [first] = captured;
    if (first?.eventType === 'unreadable' && !isRecord(text)) {
      if (captured.length > 1) complain(position, 'the same bytes twice');
      const { source: _, reason: _reason, raw, encoding, ...more } = first.payload;
      if (Object.keys(more).length > 0) complain(position, 'more than the bytes');
      if (Buffer.from(raw, encoding === 'base64' ? 'base64' : 'utf8').toString('latin1') !== text)
        complain(position, 'other bytes');
      return;
    }
    const indexes = captured.map(({ payload }) => payload.source.index);
    if (new Set(indexes).size < indexes.length) complain(position, 'an event twice');
    const { lost, doubled } = compareLeaves(parseExact(utf8(text)), captured);
    check.leaves += count(leavesOf(parseExact(utf8(text))));
    for (const leaf of lost) complain(position, `lost ${leaf.slice(0, 80)}`);
    for (const leaf of doubled) complain(position, `doubled ${leaf.slice(0, 80)}`);
    remember(position, text);
  }

  const keyOf = (position: number, text: string) =>
    agent.recordKey(parseExact(utf8(text)) as JsonObject, {
      origin: transcript?.origin ?? { session: '' },
      file: '',
      position,
    });

  function remember(position: number, text: string): void {
    const key = keyOf(position, text);
    if (key !== undefined) keys.set(key, text);
  }

  /** Checks a record without events: it must repeat an earlier record. */
  function expectRepeated(position: number, text: string): void {
    check.records++;
    const key = isRecord(text) ? keyOf(position, text) : undefined;
    const known = key === undefined ? undefined : keys.get(key);
    if (known === undefined) complain(position, `skipped ${text.slice(0, 80)}`);
    else
      for (const leaf of newIn(known, text))
        complain(position, `skipped ${leaf.slice(0, 80)} of another revision of ${key}`);
  }

  let next = 0;
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(10, start);
    const end = feed < 0 ? bytes.length : feed + 1;
    const inside: number[] = [];
    for (let at = positions[next]; at !== undefined && at < end; at = positions[++next]) inside.push(at);
    const before = trim(bytes.toString('latin1', start, inside[0] ?? end));
    if (before !== '' && before !== BYTE_ORDER_MARK) expectRepeated(start, before);
    for (const [index, at] of inside.entries())
      compare(at, trim(bytes.toString('latin1', at, inside[index + 1] ?? end)));
    start = end;
  }
  if (next < positions.length) complain(positions[next] ?? 0, 'is beyond the end');
  return check;
}

/**
 * Finds leaves of a record that its earlier copy lacks. An agent that resumes a session writes the last record again with the
 * same id and time, and with its current folder, version and session; the following records repeat these stamps.
 */
function newIn(known: string, text: string): string[] {
  const [before, after] = [known, text].map((each) => withoutStamps(parseExact(utf8(each)) as JsonObject));
  const leaves = new Set(leavesOf(before));
  return [...leavesOf(after)].filter((leaf) => leaf !== 'null' && !leaves.has(leaf));
}

const STAMPS = new Set(['cwd', 'version', 'sessionId', 'gitBranch', 'slug']);

const withoutStamps = (record: JsonObject) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !STAMPS.has(name)));

function isRecord(text: string): boolean {
  try {
    return isObject(JSON.parse(utf8(text)));
  } catch {
    return false;
  }
}

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

const utf8 = (text: string) => Buffer.from(text, 'latin1').toString('utf8');

/** Removes space and the zeros that a file system leaves after a crash. */
const trim = (text: string) => text.replace(/^[\s\0]+|[\s\0]+$/g, '');

const count = (items: Iterable<unknown>) => [...items].length;

/** Joins the parts of events that were too large for one. */
export function joined(events: readonly Captured[]): CapturedEvent[] {
  const whole: CapturedEvent[] = [];
  let parts: Part[] = [];
  for (const { eventType, payload } of events) {
    if (isPart(payload)) parts.push(payload);
    if (isPart(payload) && payload.part < payload.of) continue;
    const joinedPayload = isPart(payload) ? joinParts(parts) : payload;
    parts = [];
    whole.push({ eventType, payload: joinedPayload } as CapturedEvent);
  }
  return whole;
}
