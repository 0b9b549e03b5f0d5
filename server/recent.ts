export interface RecentOptions {
  /** The most values. Beyond it the value that was set longest ago is forgotten. */
  max: number;
  now: () => number;
}

/** A cache of the values that were set last. Each is valid for some time. */
export class Recent<Value> {
  readonly #options: RecentOptions;
  /** The value that was set last is the last entry. */
  readonly #values = new Map<string, { value: Value; until: number }>();

  constructor(options: RecentOptions) {
    this.#options = options;
  }

  /** The value while it is valid. */
  get(key: string): Value | undefined {
    const known = this.#values.get(key);
    return known && known.until > this.#options.now() ? known.value : undefined;
  }

  /** The value even if it is outdated, for a caller that gets no other one. */
  last(key: string): Value | undefined {
    return this.#values.get(key)?.value;
  }

  set(key: string, value: Value, validMs: number): void {
    const { max, now } = this.#options;
    this.#values.delete(key);
    this.#values.set(key, { value, until: now() + validMs });
    const [oldest] = this.#values.keys();
    if (this.#values.size > max && oldest !== undefined) this.#values.delete(oldest);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }

  deleteWhere(isMeant: (value: Value) => boolean): void {
    for (const [key, { value }] of this.#values) if (isMeant(value)) this.#values.delete(key);
  }

  /** The valid values. */
  *values(): Generator<Value, void> {
    const at = this.#options.now();
    for (const { value, until } of this.#values.values()) if (until > at) yield value;
  }

  /** The number of values, outdated ones included. */
  get size(): number {
    return this.#values.size;
  }
}
