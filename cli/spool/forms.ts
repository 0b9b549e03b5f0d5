import type { DatabaseSync } from 'node:sqlite';

/**
 * Of each agent's version, how many captured records had a type or a field that no reader knows, and how many
 * lines were too long. `kind` is `all` for the number of all records. `reader` is the version of capture that met it last.
 */
export const FORMS = `
  CREATE TABLE spool.forms (
    agent TEXT NOT NULL,
    version TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('all', 'line', 'record', 'field')),
    name TEXT NOT NULL,
    records INTEGER NOT NULL,
    reader TEXT NOT NULL,
    met_at INTEGER NOT NULL,
    PRIMARY KEY (agent, version, kind, name)
  ) WITHOUT ROWID;`;

/** How often records of a form were captured. */
export interface FormCount {
  agent: string;
  /** The agent's version; empty if its records do not name it. */
  version: string;
  kind: 'all' | 'line' | 'record' | 'field';
  /** The type of the record, or the place of the field. Empty for other kinds. */
  name: string;
  records: number;
}

export interface MetForm extends FormCount {
  reader: string;
  /** Milliseconds since 1970. */
  metAt: number;
}

/** An agent may use an object's keys for its data. Further names of a version are not counted. */
const MAX_NAMES = 500;

export function createForms(db: DatabaseSync) {
  const add = db.prepare(`
    INSERT INTO forms (agent, version, kind, name, records, reader, met_at)
    SELECT :agent, :version, :kind, :name, :records, :reader, :metAt
    WHERE EXISTS (SELECT 1 FROM forms WHERE agent = :agent AND version = :version AND kind = :kind AND name = :name)
      OR (SELECT count(*) FROM forms WHERE agent = :agent AND version = :version AND kind = :kind) < ${MAX_NAMES}
    ON CONFLICT DO UPDATE SET records = records + excluded.records, reader = excluded.reader,
      met_at = max(met_at, excluded.met_at)`);
  const all = db.prepare('SELECT agent, version, kind, name, records, reader, met_at AS metAt FROM forms');
  return {
    /** Must run inside a unit of work. */
    add: ({ agent, version, kind, name, records }: FormCount, reader: string, metAt: number): void => {
      add.run({ agent, version, kind, name, records, reader, metAt });
    },
    list: () => all.all() as unknown as MetForm[],
  };
}
