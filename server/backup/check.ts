import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { idOfKey } from '../audit/signers.ts';
import { NO_HEADS, verifyAudit } from '../audit/verify.ts';
import { openStore, type Store } from '../store/open.ts';
import { allRows } from '../store/rows.ts';
import { STORE_FILE } from './backup.ts';
import { type BackupManifest, describeCounts, readManifest } from './manifest.ts';
import { comparedWith } from './restore.ts';

export interface CheckOptions {
  file: string;
  /** The id of the key that must have signed the manifest; undefined: any key. */
  key: string | undefined;
  write: (line: string) => void;
}

/**
 * Copies a backup and opens the copy in the same way as a service. Checks its bytes, its audit logs, and the number of events of each
 * session.
 * @returns a line for each fault
 * @throws if the file cannot be read or is not a backup
 */
export async function checkBackup({ file, key, write }: CheckOptions): Promise<string[]> {
  const manifest = await readManifest(file);
  write(`${file} was made at ${manifest.at} by version ${manifest.version}.`);
  write(`It holds ${describeCounts(manifest.counts)}.`);
  const folder = await mkdtemp(join(tmpdir(), 'capture-restore-'));
  try {
    const copy = join(folder, STORE_FILE);
    await copyFile(file, copy);
    const different = await comparedWith(copy, manifest);
    if (different.length > 0) return different.map((finding) => `${file} ${finding}`);
    const store = await openStore({ dataDir: folder, onError: () => undefined });
    try {
      const nothing =
        manifest.counts.organizations === 0 ? [`${file} has no organization, so there is nothing to check`] : [];
      return [...nothing, ...whoSigned(manifest, key), ...(await findingsIn(store, manifest))];
    } finally {
      await store.close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Anybody may have made a manifest that is signed with another key. */
const whoSigned = ({ publicKey }: BackupManifest, expected: string | undefined): string[] =>
  expected === undefined || idOfKey(publicKey) === expected
    ? []
    : [`the manifest is signed with the key ${idOfKey(publicKey)}, not with ${expected}`];

async function findingsIn({ db }: Store, { auditHeads }: BackupManifest): Promise<string[]> {
  const byOrganization = new Map(auditHeads.map((head) => [head.organizationId, [head]]));
  const audit = await verifyAudit(db, { ...NO_HEADS, byOrganization });
  const torn = await allRows(
    db,
    sql<{ session_id: string }>`
      select session_id from sessions
      where deleted_at is null and event_count <> (
        select coalesce(sum(last_sequence - first_sequence + 1), 0) from appends
        where appends.session_id = sessions.session_id and appends.last_sequence <= sessions.event_count
      )
      limit 100`,
  );
  return [
    ...audit.findings.map(
      ({ organizationId, sequence, problem }) => `audit log of ${organizationId}, entry ${sequence}: ${problem}`,
    ),
    ...audit.unsigned.map((organizationId) => `the manifest has no head of the audit log of ${organizationId}`),
    ...torn.map(({ session_id }) => `${session_id} does not have as many events as it counts`),
  ];
}
