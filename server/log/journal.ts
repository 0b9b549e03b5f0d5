import type { Frame } from './codec.ts';
import type { Command, Decision, Entry, SessionKey } from './decide.ts';

/** A requested change of a session. */
export interface ChangeRequest {
  place: SessionKey;
  command: Command;
  /** The events of an append. The journal takes over their memory. */
  frame?: Frame | undefined;
  /** Identifies the sender; waiting senders take turns. */
  sender: string;
}

/** Keeps the entries of sessions in order. SQLite, PostgreSQL and JetStream each have an implementation. */
export interface Journal {
  /**
   * Decides the command on the current state of the session, and adds the entry, if any. No other entry is added between the
   * two. Resolves once the entry is durable.
   * @throws Problem `service_unavailable`, `idempotency_in_progress`: the entry may have been added nevertheless
   */
  change(change: ChangeRequest): Promise<Decision>;
}

/** An entry that is to be added, with the command that caused it. */
export interface Proposal {
  entry: Entry;
  command: Command;
  frame?: Frame | undefined;
}
