import type { MovedRow } from '../store/move.ts';
import type { MovedTable } from '../store/tables.ts';
import { type Header, readRows } from './format.ts';
import { forEachOfSessions } from './tables.ts';

type Reference = readonly [column: string, table: MovedTable];
const OF_SESSION: readonly Reference[] = [['session_id', 'sessions']];

/** The tables whose rows name a row of another table. An import brings all of these rows along. */
const REFERENCES: Partial<Record<MovedTable, readonly Reference[]>> = {
  installations: [['environment_id', 'environments']],
  sessions: [
    ['environment_id', 'environments'],
    ['installation_id', 'installations'],
  ],
  appends: OF_SESSION,
  ...forEachOfSessions(OF_SESSION),
};

/** The id of a row that others refer to. */
const IDS: Partial<Record<MovedTable, string>> = {
  users: 'user_id',
  environments: 'environment_id',
  installations: 'installation_id',
  sessions: 'session_id',
};

/**
 * Reads an export, and checks that all its rows belong to the organization of its header, before any of them is written. Whoever
 * signs a file may write anything into it.
 * @throws if a row belongs to another organization, or names a row that the file does not have
 */
export async function assertBelonging(path: string, header: Header): Promise<void> {
  const check = new Belonging(header.organizationId);
  for await (const { part, row } of readRows(path)) check.add(part, row);
  const problem = check.end();
  if (problem !== undefined)
    throw new Error(`${path} is not the export of one organization: ${problem}. Nothing was written`);
}

class Belonging {
  readonly #organizationId: string;
  readonly #ids = new Map<MovedTable, Set<string>>();
  /** The people with an active membership. */
  readonly #active = new Set<string>();
  #organizations = 0;
  #owner: string | undefined;
  #problem: string | undefined;

  constructor(organizationId: string) {
    this.#organizationId = organizationId;
  }

  add(table: MovedTable, row: MovedRow): void {
    const idColumn = IDS[table];
    if (idColumn !== undefined) this.#idsOf(table).add(String(row[idColumn]));
    if (table === 'users') return;
    if (row.organization_id !== this.#organizationId) {
      this.#problem ??= `a row of ${table} belongs to ${String(row.organization_id)}`;
    }
    for (const [column, other] of REFERENCES[table] ?? []) {
      const id = row[column];
      if (id !== null && !this.#idsOf(other).has(String(id))) {
        this.#problem ??= `a row of ${table} names ${String(id)}, which is not among its ${other}`;
      }
    }
    if (table === 'organizations') {
      this.#organizations++;
      this.#owner = String(row.owner_user_id);
    }
    if (table === 'members' && row.status === 'active') this.#active.add(String(row.user_id));
  }

  end(): string | undefined {
    const people = this.#idsOf('users');
    const unknown = [...this.#active].find((id) => !people.has(id));
    const foreign = [...people].find((id) => !this.#active.has(id));
    if (this.#problem !== undefined) return this.#problem;
    if (this.#organizations !== 1) return `it has ${this.#organizations} organizations`;
    if (unknown !== undefined) return `the member ${unknown} is not among its users`;
    if (foreign !== undefined) return `the user ${foreign} is no active member`;
    if (this.#owner !== undefined && !this.#active.has(this.#owner))
      return `its owner ${this.#owner} is no active member`;
    return undefined;
  }

  #idsOf(table: MovedTable): Set<string> {
    const known = this.#ids.get(table) ?? new Set();
    this.#ids.set(table, known);
    return known;
  }
}
