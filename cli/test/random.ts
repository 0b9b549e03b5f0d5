/** A seeded random number generator (mulberry32), so that a failure can be repeated. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    one: <Item>(items: readonly Item[]): Item | undefined => items[below(items.length)],
    chance: (share: number): boolean => next() < share,
    /** Picks one of several items, each with a probability proportional to its weight. */
    weighted<Item>(items: readonly (readonly [weight: number, item: Item])[]): Item {
      let left = below(items.reduce((sum, [weight]) => sum + weight, 0));
      for (const [weight, item] of items) {
        left -= weight;
        if (left < 0) return item;
      }
      throw new Error('there are no items to choose from');
    },
  };
}
