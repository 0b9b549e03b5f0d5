import { heavy } from '../turns.ts';

/** Work that hands out after each piece how many bytes it was like. */
export type Work<Result> = Generator<number, Result, void>;

/** What is read between two turns of others: half a megabyte takes 15 ms where each event is parsed. */
const STEP_BYTES = 512 * 1024;

/** Does the work; every half megabyte others have their turn. */
export async function inTurns<Result>(work: Work<Result>): Promise<Result> {
  for (;;) {
    const step = await heavy(() => {
      let piece = work.next();
      for (let left = STEP_BYTES; !piece.done; piece = work.next()) {
        left -= piece.value;
        if (left <= 0) break;
      }
      return piece;
    });
    if (step.done) return step.value;
  }
}
