import { Held } from './log/outcome.ts';

/** Collects the failures of several pieces of work. All of them are tried: a failure does not prevent the others. */
export class Failures {
  #first: { error: unknown } | undefined;

  /** @returns whether it succeeded. A hold that was placed after the list was read does not count as a failure */
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

  /** @throws the first of the failures */
  throw(): void {
    if (this.#first) throw this.#first.error;
  }
}
