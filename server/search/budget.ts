/** The first guess at the cost of a range. */
const GUESS = 64 * 1024;

/** How much may still be read for one answer. The cost of other work is that of the bytes that could be parsed in its time. */
export class Budget {
  left: number;
  #spent = 0;
  #ranges = 0;

  constructor(bytes: number) {
    this.left = bytes;
  }

  spend(bytes: number): void {
    this.left -= bytes;
    this.#spent += bytes;
  }

  /** Called for each range that is read. */
  countRange(): void {
    this.#ranges++;
  }

  /** About how many more ranges it allows. */
  get ranges(): number {
    return this.left / ((GUESS + this.#spent) / (1 + this.#ranges));
  }
}
