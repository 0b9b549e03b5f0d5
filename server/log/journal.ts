import type { Frame } from './codec.ts';
import type { Command, Decision, Entry, SessionKey } from './decide.ts';

/** What somebody wants of a session. */
export interface Change {
  place: SessionKey;
  command: Command;
  /** The events of an append; its memory is handed over. */
  frame?: Frame | undefined;
  /** The sender; waiting senders are served in turn. */
  sender: string;
}

/** Where sessions' entries are kept, in order. SQLite, PostgreSQL and JetStream each have one. */
export interface Journal {
  /**
   * Decides the command on the session as it is now, and adds the entry, if any; resolves once it is durable. No entry of
   * anybody else comes between the two.
   * @throws Problem `service_unavailable`, `idempotency_in_progress`: it may have been added all the same
   */
  change(change: Change): Promise<Decision>;
}

/** An entry that is to be added, with what it was made of. */
export interface Proposal {
  entry: Entry;
  command: Command;
  frame?: Frame | undefined;
}
