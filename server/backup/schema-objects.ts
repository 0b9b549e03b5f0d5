import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore } from '../store/open.ts';
import { STORE_FILE } from './backup.ts';

interface SchemaObject {
  type: string;
  name: string;
  sql: string | null;
}

/**
 * Compares the schema of a store with the schema that this version creates. A trigger or a view would change or answer the
 * statements of the service, whatever the rows say.
 * @returns a sentence without a subject for each object that the service did not create
 */
export async function strangeObjects(path: string): Promise<string[]> {
  const own = await ownSchema();
  const theirs = schemaOf(path);
  const isSame = theirs.changes === own.changes;
  return theirs.objects.flatMap(({ type, name, sql }) => {
    const known = own.objects.find((one) => one.type === type && one.name === name);
    if (!known) return [`has the ${type} ${name}, which the service did not create`];
    // Another version may have changed a table, but no version has a trigger or a view.
    return isSame && known.sql !== sql ? [`has a ${type} ${name} that the service did not create so`] : [];
  });
}

/** The schema of a new store. */
async function ownSchema() {
  const folder = await mkdtemp(join(tmpdir(), 'capture-schema-'));
  try {
    const store = await openStore({ dataDir: folder, onError: () => undefined });
    await store.close();
    return schemaOf(join(folder, STORE_FILE));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function schemaOf(path: string) {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const objects = database
      .prepare(
        `SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name`,
      )
      .all() as unknown as SchemaObject[];
    const isThere = objects.some(({ name }) => name === 'schema_changes');
    const rows = isThere ? database.prepare('SELECT name FROM schema_changes ORDER BY name').all() : [];
    return { objects, changes: rows.map(({ name }) => String(name)).join() };
  } finally {
    database.close();
  }
}
