/** What waits, in lanes that take turns: a long lane does not make a short one wait. */
export interface Lanes<Item> {
  readonly count: number;
  readonly bytes: number;
  add(lane: string, bytes: number, item: Item): void;
  /** At least one item and at most these; each lane's first in turn, in the lane's own order. */
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

  /** The lane whose turn it is goes behind the others. */
  function takeFirst(): Entry | undefined {
    for (const [name, entries] of lanes) {
      const first = entries.shift();
      lanes.delete(name);
      if (entries.length > 0) lanes.set(name, entries);
      return first;
    }
    return undefined;
  }

  return {
    get count() {
      return waiting;
    },
    get bytes() {
      return waitingBytes;
    },
    add(lane, bytes, item) {
      const entries = lanes.get(lane);
      if (entries) entries.push({ bytes, item });
      else lanes.set(lane, [{ bytes, item }]);
      waiting++;
      waitingBytes += bytes;
    },
    take(count, bytes) {
      const taken: Item[] = [];
      for (let room = bytes; taken.length < count && (room > 0 || taken.length === 0); ) {
        const entry = takeFirst();
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
