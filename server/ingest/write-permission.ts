import type { SecretCaller } from '../http/secret-lookup.ts';
import { noSuchSession } from '../log/outcome.ts';
import { isUnavailable, storeUnavailable } from '../store/dialect.ts';
import { findWritten, mayWrite, type Written } from '../store/ownership.ts';
import type { Db, SessionRow } from '../store/schema.ts';

interface Known {
  row: Written;
  /** When the store last told it. */
  foundAt: number;
}

/** A session gets another owner rarely. Like a revoked secret, the change takes effect on every replica within 5 s. */
const CACHE_MS = 4_000;
/** A row has about 400 bytes. */
const MAX_CACHED = 20_000;

/**
 * Decides whether a secret may write to a session. An organization's plain secret may write to all of them; a machine's only to
 * those of its machine or its person, and the others do not exist for it.
 */
export class WritePermission {
  readonly #db: Db;
  readonly #now: () => number;
  /** By session, from the least to the most recently noted. */
  readonly #known = new Map<string, Known>();

  constructor(db: Db, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** Remembers a session that was just read, so that its first append need not read it. */
  note(row: SessionRow): void {
    this.#keep({ row, foundAt: this.#now() });
  }

  /**
   * @returns the secret, if another one opened the session; null otherwise
   * @throws Problem `not_found`, as for an unknown session; `service_unavailable`
   */
  async check({ organizationId, secretId, machine }: SecretCaller, sessionId: string): Promise<string | null> {
    const row = await this.#find(organizationId, sessionId, machine !== undefined);
    if (machine && (!row || !mayWrite(row, { secretId, ...machine }))) throw noSuchSession();
    return row && row.secret_id !== secretId ? secretId : null;
  }

  /** @param isDecisive whether the owner matters; otherwise only the secret does, which never changes */
  async #find(organizationId: string, sessionId: string, isDecisive: boolean): Promise<Written | undefined> {
    const known = this.#known.get(sessionId);
    const own = known?.row.organization_id === organizationId ? known : undefined;
    if (own && (!isDecisive || this.#now() < own.foundAt + CACHE_MS)) return own.row;
    try {
      const row = await findWritten(this.#db, { organizationId, sessionId });
      if (row) this.#keep({ row, foundAt: this.#now() });
      return row;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      // An event bus accepts events while the store is down.
      if (own || !isDecisive) return own?.row;
      throw storeUnavailable(error);
    }
  }

  #keep(known: Known): void {
    const { session_id, organization_id, environment_id, user_id, secret_id } = known.row;
    this.#known.delete(session_id);
    this.#known.set(session_id, { ...known, row: { session_id, organization_id, environment_id, user_id, secret_id } });
    if (this.#known.size <= MAX_CACHED) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}
