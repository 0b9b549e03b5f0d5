/** How long the daemon waits for what, in milliseconds. */
export interface Timing {
  /** Several changes of one write come as one. */
  settleMs: number;
  /** A long catch-up makes room for what is being written now, this often at most. */
  catchUpMs: number;
  heartbeatMs: number;
  /** After how many heartbeats what an administrator disabled is tried again. */
  reconsiderBeats: number;
  /** After an error of this machine, such as a full disk. */
  restartMs: number;
  /** After a refusal that only a person can change. */
  holdMs: number;
  /** Sign-in, pause and clock are looked after this often. */
  careMs: number;
}

export const TIMING: Timing = {
  settleMs: 30,
  catchUpMs: 500,
  heartbeatMs: 60_000,
  reconsiderBeats: 10,
  restartMs: 10_000,
  holdMs: 5 * 60_000,
  careMs: 2000,
};
