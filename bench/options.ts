/** Options of a bench. */
export interface Options {
  /** Duration of the load on each side of a comparison. */
  seconds: number;
  /** Number of alternating rounds. */
  rounds: number;
  /** Prints a line for each case instead of a line for the worst one. */
  table: boolean;
}
