import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { formatCount } from '../contract/count.ts';
import { auditHeadsFile, readOrganizations } from './audit/heads.ts';
import { STORE_FILE } from './backup/backup.ts';
import type { Config } from './config.ts';
import { hasOrganizations } from './store/organizations.ts';
import type { Db } from './store/schema.ts';
import { hasSetting, rememberSetting } from './store/settings.ts';
import { asService } from './store/tenant.ts';

/** The setting of a store on which a service has started. */
const BEGUN = 'begun';

type Places = Pick<Config, 'DATA_DIR' | 'DATABASE_URL' | 'AUDIT_HEADS' | 'BACKUP_DIR'>;

/**
 * Refuses to create the file of the embedded store where an earlier store must have been: its folder may not be mounted. A new
 * store would answer machines that their secrets are wrong, and people that they have no organization.
 * @throws if there is no store, but signs of an earlier one
 */
export function assertFolderIsNew(places: Places): void {
  if (places.DATABASE_URL !== undefined) return;
  const path = join(places.DATA_DIR, STORE_FILE);
  if (existsSync(path) && statSync(path).size > 0) return;
  refuseIfAny(`${path} is ${existsSync(path) ? 'empty' : 'missing'}`, [
    ...signsOf(places),
    ...[join(places.DATA_DIR, 'audit-key.pem')].filter(existsSync),
  ]);
}

/**
 * Refuses an empty store where an earlier one had organizations. Otherwise notes that a service has started on the store.
 * @throws if no service has started on the store, it has no organization, and there are signs of an earlier store
 */
export const assertStoreIsNew = (db: Db, places: Places): Promise<void> =>
  asService(async () => {
    if (await hasSetting(db, BEGUN)) return;
    if (!(await hasOrganizations(db))) refuseIfAny('The store has no organization', signsOf(places));
    await beginStore(db);
  });

/** Notes that the store is new although there are signs of an earlier one. */
export const beginStore = (db: Db): Promise<unknown> => asService(() => rememberSetting(db, BEGUN, () => 'yes'));

/** What an earlier store has left outside of itself. */
function signsOf(places: Places): string[] {
  const heads = auditHeadsFile(places);
  const organizations = existsSync(heads) ? readOrganizations(heads) : 0;
  const { BACKUP_DIR: folder } = places;
  const backups = folder === undefined || !existsSync(folder) ? [] : readdirSync(folder);
  return [
    ...(organizations > 0 ? [`${heads} with the heads of ${formatCount(organizations, 'organization')}`] : []),
    ...(backups.some((name) => name.endsWith('.sqlite')) ? [`a backup in ${folder}`] : []),
  ];
}

function refuseIfAny(fact: string, signs: readonly string[]): void {
  if (signs.length === 0) return;
  throw new Error(
    `${fact}, but there was an earlier store: there is ${signs.join(', and ')}. Mount the folder or correct DATA_DIR and DATABASE_URL, or restore a backup. If you want to begin with an empty store, run \`begin anew\` once`,
  );
}
