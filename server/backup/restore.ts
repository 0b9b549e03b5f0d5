import { copyFile, mkdir, readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { damageOf, removeCopy, STORE_FILE, sync } from './backup.ts';
import { type BackupManifest, isUnchanged, readManifest, sha256Of } from './manifest.ts';

/**
 * Copies a backup into a data folder without a store.
 * @throws if the folder has a store, or the backup differs from its manifest; then no copy remains
 */
export async function restoreBackup(file: string, dataDir: string): Promise<void> {
  const manifest = await readManifest(file);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const left = (await readdir(dataDir)).filter((name) => name.startsWith(STORE_FILE) && !name.includes('.part'));
  if (left.length > 0) {
    throw new Error(
      `${dataDir} holds ${left.join(', ')}. Set DATA_DIR to an empty folder, or move that store away first`,
    );
  }
  const part = join(dataDir, `${STORE_FILE}.part`);
  await removeCopy(part);
  try {
    await copyFile(file, part);
    const findings = await comparedWith(part, manifest);
    if (findings.length > 0) throw new Error(`Nothing was restored. ${file}: ${findings.join('; ')}`);
    await sync(part);
    await rename(part, join(dataDir, STORE_FILE));
    await sync(dataDir);
  } catch (error) {
    await removeCopy(part);
    throw error;
  }
}

/** The differences between a backup and its manifest, as sentences without a subject. */
export async function comparedWith(path: string, manifest: BackupManifest): Promise<string[]> {
  if (!isUnchanged(manifest)) return ['its manifest was changed: the signature does not fit'];
  const { size } = await stat(path);
  if (size !== manifest.bytes) return [`has ${size} bytes; its manifest says ${manifest.bytes}`];
  if ((await sha256Of(path)) !== manifest.sha256) return ['does not have the SHA-256 of its manifest'];
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const damage = damageOf(database);
    return damage === undefined ? [] : [`is damaged: ${damage}`];
  } finally {
    database.close();
  }
}
