import { existsSync } from 'node:fs';
import { open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { backup as copyPages, DatabaseSync } from 'node:sqlite';
import type { AuditKey } from '../audit/heads.ts';
import { VERSION as DERIVED_VERSION } from '../derive/facts.ts';
import type { AuditHeadRow } from '../store/schema.ts';
import { openReader } from '../store/sqlite/connection.ts';
import { VERSION } from '../version.ts';
import { type BackupManifest, manifestOf, sha256Of, signManifest } from './manifest.ts';

export const STORE_FILE = 'session-capture.sqlite';

/** How many pages of 4 KiB are copied at once. */
const PAGES_AT_ONCE = 2_000;

export interface BackupOptions {
  dataDir: string;
  /** The file must not exist. */
  file: string;
  key: AuditKey;
  /** Whether the service made the backup by its schedule. */
  isScheduled?: boolean;
  now: () => number;
}

/**
 * Makes a consistent copy of the embedded store. The service may be running, and writers do not wait: they add to the write-ahead
 * log, which grows until the copy is done. The backup appears under its final name only when it is complete and checked.
 * @throws if there is no store, the file exists, or the copy is damaged
 */
export async function backUp({ dataDir, file, key, isScheduled = false, now }: BackupOptions): Promise<BackupManifest> {
  const source = join(dataDir, STORE_FILE);
  if (!existsSync(source)) throw new Error(`The folder ${dataDir} holds no store. Name its folder in DATA_DIR`);
  if (existsSync(file)) throw new Error(`${file} exists already. Name another file`);
  const part = `${file}.part`;
  // An interrupted backup leaves its copy behind.
  await removeCopy(part);
  try {
    const at = now();
    // SQLite would create a file that every user may read.
    await writeFile(part, '', { mode: 0o600 });
    await copy(source, part);
    const described = describe(part);
    await sync(part);
    const manifest = signManifest(
      {
        at: new Date(at).toISOString(),
        isScheduled,
        version: VERSION,
        derivedVersion: DERIVED_VERSION,
        schema: described.schema,
        counts: described.counts,
        bytes: (await stat(part)).size,
        sha256: await sha256Of(part),
        auditHeads: described.heads.map((row) => key.sign(row.organization_id, row, at)),
      },
      key,
    );
    // The manifest comes first, so that no backup lacks one.
    await writeManifest(file, manifest);
    await rename(part, file);
    await sync(dirname(file));
    return manifest;
  } catch (error) {
    await removeCopy(part);
    throw error;
  }
}

/** Copies within one read transaction. Otherwise SQLite would start the copy again after each commit of a writer. */
async function copy(from: string, to: string): Promise<void> {
  const source = openReader(from);
  try {
    source.exec('BEGIN');
    source.prepare('SELECT 1 FROM sqlite_master').get();
    await copyPages(source, to, { rate: PAGES_AT_ONCE });
  } finally {
    source.close();
  }
}

/** @throws if the copy is damaged */
function describe(path: string) {
  const database = new DatabaseSync(path);
  try {
    // Makes the copy a single file without a write-ahead log.
    database.exec('PRAGMA journal_mode = DELETE');
    const damage = damageOf(database);
    if (damage !== undefined) throw new Error(`The store is damaged, so its copy was removed: ${damage}`);
    return {
      schema: database
        .prepare('SELECT name FROM schema_changes ORDER BY name')
        .all()
        .map(({ name }) => String(name)),
      counts: countRows(database),
      heads: database.prepare('SELECT * FROM audit_heads ORDER BY organization_id').all() as unknown as AuditHeadRow[],
    };
  } finally {
    database.close();
  }
}

/** The damage that SQLite finds in the file; undefined if there is none. */
export function damageOf(database: DatabaseSync): string | undefined {
  const { integrity_check: found } = database.prepare('PRAGMA integrity_check(1)').get() as { integrity_check: string };
  return found === 'ok' ? undefined : found;
}

export const countRows = (database: DatabaseSync) =>
  database
    .prepare(`
      SELECT (SELECT count(*) FROM organizations) AS organizations,
        (SELECT count(*) FROM users) AS people,
        (SELECT count(*) FROM environments) AS machines,
        (SELECT count(*) FROM sessions) AS sessions,
        (SELECT count(*) FROM appends) AS appends,
        (SELECT coalesce(sum(last_sequence - first_sequence + 1), 0) FROM appends) AS events`)
    .get() as BackupManifest['counts'];

async function writeManifest(file: string, manifest: BackupManifest): Promise<void> {
  const part = `${manifestOf(file)}.part`;
  await writeFile(part, `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600, flush: true });
  await rename(part, manifestOf(file));
}

/** Syncs a file or a folder to disk. */
export async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  await file.sync().finally(() => file.close());
}

export async function removeCopy(part: string): Promise<void> {
  for (const path of [part, `${part}-journal`]) await rm(path, { force: true });
}
