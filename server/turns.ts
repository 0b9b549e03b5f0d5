const waiting: (() => void)[] = [];

/**
 * Runs a step of long synchronous work when its turn comes: one a turn of the event loop, so that between any two steps,
 * of whichever requests, everything else that is ready is served. What takes long is cut into steps of at most 30 ms.
 * @returns what the step returned; rejects with what it threw
 */
export function heavy<Result>(step: () => Result): Promise<Result> {
  return new Promise((resolve, reject) => {
    waiting.push(() => {
      try {
        resolve(step());
      } catch (error) {
        reject(error);
      }
    });
    if (waiting.length === 1) setImmediate(takeTurn);
  });
}

/** Bytes from which on work on them waits for its turn: a megabyte is scanned in 1 to 10 ms. */
export const HEAVY_BYTES = 1024 * 1024;

/** Runs a step of work on so many bytes: at once, or when its turn comes where they are many. */
export const inTurn = <Result>(bytes: number, step: () => Result): Result | Promise<Result> =>
  bytes > HEAVY_BYTES ? heavy(step) : step();

/** What `setImmediate` is given while immediates run waits until sockets and timers were looked at. */
function takeTurn(): void {
  waiting[0]?.();
  waiting.shift();
  if (waiting.length > 0) setImmediate(takeTurn);
}
