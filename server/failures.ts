import { Held } from './log/outcome.ts';

/** How many failures are reported. */
const MAX_REPORTED = 20;

/** Collects the failures of several pieces of work. All of them are tried: a failure does not prevent the others. */
export class Failures {
  readonly #errors: unknown[] = [];

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
    const errors = error instanceof AggregateError ? error.errors : [error];
    this.#errors.push(...errors.slice(0, MAX_REPORTED - this.#errors.length));
  }

  /** @throws the failure; an `AggregateError` if there are several */
  throw(): void {
    if (this.#errors.length > 1) throw new AggregateError(this.#errors, `${this.#errors.length} pieces of work failed`);
    if (this.#errors.length === 1) throw this.#errors[0];
  }
}
