/** Runs at once, then at most every `milliseconds`, the last call always being answered. What fails is tried at the next. */
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

/** The same for things that gather until it is their turn. */
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
