/** What waits, in lanes that take turns: a long lane does not make a short one wait. */
export interface Lanes<Item> {
  readonly count: number;
  readonly bytes: number;
  add(lane: string, bytes: number, item: Item): void;
  /** Items that wait in the lane. */
  countOf(lane: string): number;
  /** The first item of the lane whose turn it is; undefined when none waits. */
  take(): Item | undefined;
}

export function createLanes<Item>(): Lanes<Item> {
  interface Entry {
    bytes: number;
    item: Item;
  }
  const lanes = new Map<string, Entry[]>();
  let waiting = 0;
  let waitingBytes = 0;

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
    take() {
      const [turn] = lanes;
      if (!turn) return undefined;
      const [name, entries] = turn;
      const { bytes, item } = entries.shift() as Entry;
      // The lane goes behind the others.
      lanes.delete(name);
      if (entries.length > 0) lanes.set(name, entries);
      waiting--;
      waitingBytes -= bytes;
      return item;
    },
  };
}
