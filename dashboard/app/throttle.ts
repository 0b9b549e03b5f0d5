/**
 * Runs at once, then at most once in `milliseconds`. The last call always leads to a run. A failed run waits for the next call.
 */
export function throttle(milliseconds: number, run: () => Promise<unknown>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  const go = () => {
    timer = undefined;
    last = Date.now();
    void run().catch(() => {});
  };
  return () => {
    if (timer === undefined) timer = setTimeout(go, Math.max(0, last + milliseconds - Date.now()));
  };
}

/** The same for items, which are collected until the next run. */
export function gather<Item>(milliseconds: number, run: (items: Item[]) => Promise<unknown>): (item: Item) => void {
  const items = new Set<Item>();
  const flush = throttle(milliseconds, () => {
    const taken = [...items];
    items.clear();
    return run(taken);
  });
  return (item) => {
    items.add(item);
    flush();
  };
}
