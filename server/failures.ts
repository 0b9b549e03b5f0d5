import { Held } from './log/outcome.ts';

/** What failed of many pieces of work, until all were tried: one that fails keeps no other from its turn. */
export class Failures {
  #first: { error: unknown } | undefined;

  /** @returns whether it was done. A hold that was placed after the list was read is no failure */
  async try(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof Held)) this.note(error);
      return false;
    }
  }

  note(error: unknown): void {
    this.#first ??= { error };
  }

  /** @throws the first of them */
  throw(): void {
    if (this.#first) throw this.#first.error;
  }
}
