import type { SecretCaller } from '../http/secret-lookup.ts';
import { noSuchSession } from '../log/outcome.ts';
import { Recent } from '../recent.ts';
import { isUnavailable, storeUnavailable } from '../store/dialect.ts';
import { findWritten, mayWrite, type Written } from '../store/ownership.ts';
import type { Db } from '../store/schema.ts';

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
  /** By session. */
  readonly #known: Recent<Written>;

  constructor(db: Db, now: () => number) {
    this.#db = db;
    this.#known = new Recent({ max: MAX_CACHED, now });
  }

  /** Remembers a session that was just read, so that its first append need not read it. */
  note({ session_id, organization_id, environment_id, user_id, secret_id }: Written): void {
    this.#known.set(session_id, { session_id, organization_id, environment_id, user_id, secret_id }, CACHE_MS);
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
    const isOwn = (row: Written | undefined) => row?.organization_id === organizationId;
    const known = isDecisive ? this.#known.get(sessionId) : this.#known.last(sessionId);
    if (isOwn(known)) return known;
    try {
      const row = await findWritten(this.#db, { organizationId, sessionId });
      if (row) this.note(row);
      return row;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      // An event bus accepts events while the store is down.
      const last = this.#known.last(sessionId);
      if (isOwn(last)) return last;
      if (!isDecisive) return undefined;
      throw storeUnavailable(error);
    }
  }
}
