import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { AuditAction, AuditEntry, AuditParty, SignedHead } from '../../contract/audit.ts';

/*
 * Each entry of an audit log contains the hash of the previous entry, so that a changed, missing, moved or inserted entry no
 * longer fits. A chain alone cannot reveal that its end was removed or that all of it was rewritten. Signed heads can.
 */

/** An action that has no place in the log yet. */
export interface Happened {
  actor: AuditParty;
  action: AuditAction;
  target: AuditParty;
  details?: Record<string, string | number | boolean>;
}

export const person = (id: string): AuditParty => ({ kind: 'person', id });
export const directory = (id: string): AuditParty => ({ kind: 'directory', id });
export const secret = (id: string): AuditParty => ({ kind: 'secret', id });
/** The person who runs commands on the machine of the service. */
export const OPERATOR: AuditParty = { kind: 'service', id: 'operator' };

/** The service, when it applies retention periods. */
const RETENTION: AuditParty = { kind: 'service', id: 'retention' };

/** How a session ends. */
export interface SessionEnd {
  isExpired: boolean;
  /** Who deleted it; absent: it expired, or ends together with its organization and the audit log. */
  by?: AuditParty | undefined;
}

/** The entry for the end of a session; undefined if the audit log ends, too. */
export function sessionEnded(id: string, events: number, { isExpired, by }: SessionEnd): Happened | undefined {
  const target = { kind: 'session', id } as const;
  if (isExpired) return { actor: RETENTION, action: 'session.expired', target, details: { events } };
  return by && { actor: by, action: 'session.deleted', target, details: { events } };
}

export const contentExpired = (id: string, events: number): Happened => ({
  actor: RETENTION,
  action: 'session.content_expired',
  target: { kind: 'session', id },
  details: { events },
});

/** The last entry of a log. */
export interface ChainHead {
  sequence: number;
  hash: string;
}

/** The head of a log without entries. */
export const EMPTY: ChainHead = { sequence: 0, hash: '0'.repeat(64) };

/** SHA-256 of the entry's canonical JSON (RFC 8785). The organization is part of it, so no entry fits another log. */
const hashOf = (organizationId: string, { hash: _, ...entry }: AuditEntry): string =>
  hash('sha256', canonicalize({ organizationId, ...entry }) ?? '');

/** A statement that both the query layer and the thread that writes the embedded store can run. */
export interface Statement {
  parts: TemplateStringsArray;
  values: (string | number | null)[];
}

const statement = (parts: TemplateStringsArray, ...values: Statement['values']): Statement => ({ parts, values });

/**
 * Returns the head of a log, which may be empty. It also locks the log until the transaction ends, because writing the row locks
 * it on both engines.
 */
export const holdHead = (organizationId: string, now: number): Statement => statement`
  insert into audit_heads (organization_id, sequence, hash, changed_at)
  values (${organizationId}, ${EMPTY.sequence}, ${EMPTY.hash}, ${now})
  on conflict (organization_id) do update set changed_at = excluded.changed_at
  returning sequence, hash`;

/** Adds entries after the head that the transaction has locked, and moves the head to the last of them. */
export function addEntries(
  organizationId: string,
  head: ChainHead,
  all: readonly Happened[],
  now: number,
): Statement[] {
  let last = head;
  const added = all.map((happened) => {
    const entry = nextEntry(organizationId, last, happened, now);
    last = entry;
    const { sequence, actor, action, target, details, previous } = entry;
    return statement`
      insert into audit_entries (organization_id, sequence, at, actor_kind, actor_id, action, target_kind, target_id,
        details, previous, hash)
      values (${organizationId}, ${sequence}, ${now}, ${actor.kind}, ${actor.id}, ${action}, ${target.kind}, ${target.id},
        ${details ? JSON.stringify(details) : null}, ${previous}, ${entry.hash})`;
  });
  const moved = statement`
    update audit_heads set sequence = ${last.sequence}, hash = ${last.hash} where organization_id = ${organizationId}`;
  return [...added, moved];
}

/** The entry that follows the head. @param at epoch milliseconds */
export function nextEntry(organizationId: string, head: ChainHead, happened: Happened, at: number): AuditEntry {
  const { actor, action, target, details } = happened;
  const entry: AuditEntry = {
    sequence: head.sequence + 1,
    at: new Date(at).toISOString(),
    actor,
    action,
    target,
    ...(details === undefined ? {} : { details }),
    previous: head.hash,
    hash: '',
  };
  return { ...entry, hash: hashOf(organizationId, entry) };
}

/** An inconsistency in a log. */
export interface Finding {
  sequence: number;
  problem: 'edited' | 'missing' | 'out of place' | 'cut off' | 'added' | 'written anew';
}

/** Checks the entries of one log, which must be added in the order of their sequence. */
export class ChainCheck {
  readonly findings: Finding[] = [];
  readonly #organizationId: string;
  /** All hashes in signed heads, by sequence. */
  readonly #signed = new Map<number, Set<string>>();
  #last: ChainHead = EMPTY;

  /** @param signed heads of this organization whose signatures were verified */
  constructor(organizationId: string, signed: readonly Pick<SignedHead, 'sequence' | 'hash'>[] = []) {
    this.#organizationId = organizationId;
    for (const { sequence, hash: signedHash } of signed) {
      this.#signed.set(sequence, (this.#signed.get(sequence) ?? new Set()).add(signedHash));
    }
  }

  add(entry: AuditEntry): void {
    this.#follow(entry, hashOf(this.#organizationId, entry));
  }

  /** Adds a row that cannot be read as an entry, for example because its details are not JSON. */
  addUnreadable(row: Pick<AuditEntry, 'sequence' | 'previous' | 'hash'>): void {
    this.#follow(row, undefined);
  }

  /**
   * Ends the check.
   * @param before the head in the store before the entries were read
   * @param after the head in the store afterwards, because entries may have been added meanwhile
   */
  end(before: ChainHead, after: ChainHead = before): Finding[] {
    const { sequence, hash: lastHash } = this.#last;
    const [head] = [before, after].filter((one) => one.sequence === sequence);
    // An organization's log begins when it is created.
    if (sequence === 0 || Math.max(before.sequence, ...this.#signed.keys()) > sequence) {
      this.#report(sequence + 1, 'cut off');
    } else if (after.sequence < sequence) this.#report(after.sequence + 1, 'added');
    else if (head && head.hash !== lastHash) this.#report(sequence, 'edited');
    return this.findings;
  }

  #follow(entry: Pick<AuditEntry, 'sequence' | 'previous' | 'hash'>, computed: string | undefined): void {
    const { sequence, previous, hash: entryHash } = entry;
    if (sequence !== this.#last.sequence + 1) this.#report(this.#last.sequence + 1, 'missing');
    else if (previous !== this.#last.hash) this.#report(sequence, 'out of place');
    if (computed !== entryHash) this.#report(sequence, 'edited');
    const signed = this.#signed.get(sequence);
    // The service also signs the head of a rewritten log, so all signed heads are compared.
    if (signed && (signed.size > 1 || !signed.has(entryHash))) this.#report(sequence, 'written anew');
    this.#last = { sequence, hash: entryHash };
  }

  #report(sequence: number, problem: Finding['problem']): void {
    this.findings.push({ sequence, problem });
  }
}
