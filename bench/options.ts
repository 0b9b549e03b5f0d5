/** What may be said beside a bench's name. */
export interface Options {
  /** How long each side of a comparison is loaded. */
  seconds: number;
  /** How often the sides take turns. */
  rounds: number;
  /** One line for each case, where there is a line for the worst otherwise. */
  table: boolean;
}
