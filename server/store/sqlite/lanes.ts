/** What waits, in lanes that take turns: a long lane does not make a short one wait. */
export interface Lanes<Item> {
  readonly count: number;
  readonly bytes: number;
  add(lane: string, bytes: number, item: Item): void;
  /** Items that wait in the lane. */
  countOf(lane: string): number;
  /** At most so many items of so many bytes, but one at least; each lane's first in turn, in the lane's own order. */
  take(count: number, bytes: number): Item[];
}

export function createLanes<Item>(): Lanes<Item> {
  interface Entry {
    bytes: number;
    item: Item;
  }
  const lanes = new Map<string, Entry[]>();
  let waiting = 0;
  let waitingBytes = 0;

  /** The first of the lane whose turn it is, if it fits; its lane then goes behind the others. */
  function takeFirst(room: number): Entry | undefined {
    const [turn] = lanes;
    if (!turn) return undefined;
    const [name, entries] = turn;
    if ((entries[0]?.bytes ?? 0) > room) return undefined;
    lanes.delete(name);
    const first = entries.shift();
    if (entries.length > 0) lanes.set(name, entries);
    return first;
  }

  return {
    get count() {
      return waiting;
    },
    get bytes() {
      return waitingBytes;
    },
    countOf: (lane) => lanes.get(lane)?.length ?? 0,
    add(lane, bytes, item) {
      const entries = lanes.get(lane);
      if (entries) entries.push({ bytes, item });
      else lanes.set(lane, [{ bytes, item }]);
      waiting++;
      waitingBytes += bytes;
    },
    take(count, bytes) {
      const taken: Item[] = [];
      for (let room = bytes; taken.length < count; ) {
        const entry = takeFirst(taken.length === 0 ? Number.POSITIVE_INFINITY : room);
        if (!entry) break;
        taken.push(entry.item);
        room -= entry.bytes;
        waiting--;
        waitingBytes -= entry.bytes;
      }
      return taken;
    },
  };
}
