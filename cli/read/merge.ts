import type { CapturedRecord, RecordStream } from './record.ts';

/**
 * Which of several files of a session comes next: the one whose next record is earliest. Each file keeps its own order,
 * and a record never waits for a later one of its file. Undefined at the end of all.
 */
export function pickEarliest<Item extends { stream: Pick<RecordStream, 'peek'> }>(
  items: readonly Item[],
): (Item & { record: CapturedRecord }) | undefined {
  let earliest: (Item & { record: CapturedRecord }) | undefined;
  for (const item of items) {
    const record = item.stream.peek();
    if (record && (earliest === undefined || record.time < earliest.record.time)) earliest = { ...item, record };
  }
  return earliest;
}
