import type { ExpectedEvent } from './expect.ts';
import type { Held } from './held.ts';
import type { LackingRecord } from './notes.ts';
import type { Verified, Verifier } from './session.ts';

/** The events at the service that carry one payload: one, or its parts. */
export interface Run {
  place: number;
  /** Of the first of them. */
  sequence: number;
  index: number | undefined;
  eventType: string;
  rows: Held[];
  /** Whether no part is missing, and they follow one another. */
  isWhole: boolean;
  /** Whether it was laid beside an event. */
  isPaired: boolean;
}

/** What of the service may be this record in another form: what came from the same place, or else has its id. */
export function findCandidates(
  { held }: Verifier,
  { files }: Verified,
  { file, position }: LackingRecord,
  events: readonly ExpectedEvent[],
): Held[] {
  const { digest: own, transcript } = files[file] ?? {};
  const record = events[0]?.payloads[0]?.record;
  const atPosition = held.findAtPosition(position);
  // Where a file was written anew, another record may have stood before.
  const isHere = (row: Held) => row.file === own && (transcript?.isRewritten !== true || row.record === record);
  const atPlace = atPosition.filter(isHere);
  if (atPlace.length > 0) return atPlace;
  const ofRecord = record === undefined ? [] : held.findOfRecord(record);
  if (ofRecord.length > 0) return ofRecord;
  // A file that was moved, and whose name of then nobody remembers.
  const known = new Set(files.map(({ digest }) => digest));
  const types = new Set(events.map(({ eventType }) => eventType));
  const isOfMoved = (row: Held) => !known.has(row.file ?? '') && row.record === record && types.has(row.eventType);
  return atPosition.filter(isOfMoved);
}

/** Gathers parts that belong together; of two equal parts only the first. */
export function toRuns(rows: readonly Held[]): Run[] {
  const runs: Run[] = [];
  for (const row of rows) {
    const last = runs.at(-1);
    const { place, sequence, index, eventType, part } = row;
    const follows =
      part !== undefined && last?.place === place && last.index === index && (last.rows.at(-1)?.part ?? part) < part;
    if (follows) last.rows.push(row);
    else runs.push({ place, sequence, index, eventType, rows: [row], isWhole: false, isPaired: false });
  }
  for (const run of runs) {
    const { rows: parts, sequence } = run;
    const inOrder = parts.every((row, at) => row.sequence === sequence + at && (row.part ?? 1) === at + 1);
    run.isWhole = inOrder && parts.length === (parts[0]?.of ?? 1);
  }
  return runs;
}
