import { copyFile, mkdir, readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { assertSignedBy, idOfKey } from '../audit/signers.ts';
import { damageOf, removeCopy, STORE_FILE, sync } from './backup.ts';
import { type BackupManifest, isUnchanged, readManifest, sha256Of } from './manifest.ts';
import { strangeObjects } from './schema-objects.ts';

/**
 * Copies a backup into a data folder without a store.
 * @param key the id of the key that must have signed the manifest; absent: any key
 * @returns the id of the key that signed it
 * @throws if the folder has a store, another key signed the manifest, or the backup differs from it; then no copy remains
 */
export async function restoreBackup(file: string, dataDir: string, key?: string): Promise<string> {
  const manifest = await readManifest(file);
  assertSignedBy(file, manifest.publicKey, key);
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
    return idOfKey(manifest.publicKey);
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
    if (damage !== undefined) return [`is damaged: ${damage}`];
  } finally {
    database.close();
  }
  return strangeObjects(path);
}
