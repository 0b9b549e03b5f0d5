interface Entry<Item> {
  bytes: number;
  item: Item;
}

/** Waiting items in groups that are served in turn: a long group does not delay a short one. */
export class FairList<Item> {
  readonly #groups = new Map<string, Entry<Item>[]>();
  #count = 0;
  #bytes = 0;

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Items of the group. */
  countOf(group: string): number {
    return this.#groups.get(group)?.length ?? 0;
  }

  add(group: string, bytes: number, item: Item): void {
    const entries = this.#groups.get(group);
    if (entries) entries.push({ bytes, item });
    else this.#groups.set(group, [{ bytes, item }]);
    this.#count++;
    this.#bytes += bytes;
  }

  /** Takes out the first item of the group whose turn it is. Undefined when none waits. */
  take(): Item | undefined {
    const [first] = this.#groups;
    if (!first) return undefined;
    const [group, entries] = first;
    const { bytes, item } = entries.shift() as Entry<Item>;
    // The group goes behind the others.
    this.#groups.delete(group);
    if (entries.length > 0) this.#groups.set(group, entries);
    this.#count--;
    this.#bytes -= bytes;
    return item;
  }
}
