import { formatCount } from '../../../contract/count.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Config } from '../../config.ts';
import { changeStore, forgetChanges, openStoreToRead, type StoreOptions } from '../../store/open.ts';
import { askByRules, cancelMask, listMasksByRules, MaskHeld } from './masks.ts';
import { type SecretsFound, scanSecrets } from './scan-secrets.ts';

type Write = (line: string) => void;

const LISTED_AT_ONCE = 100;

/**
 * Reports what the current redaction rules find in stored sessions; a service may use the store meanwhile. With `--apply` it
 * requests the service to mask the findings. With `--cancel` it withdraws the requests that are not done yet.
 * @throws if there are findings that will not be masked
 */
export async function scanSecretsCommand(config: Config, write: Write, options: readonly string[]): Promise<void> {
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl } = config;
  const place = { dataDir, databaseUrl, onError: (error: Error) => write(error.message) };
  if (options.length === 1 && options[0] === '--cancel') return cancel(place, write);
  const { after, isApplied } = readOptions(options);
  const db = await openStoreToRead(place);
  let left = 0;
  const { sessions, findings } = await scanSecrets(db, after, async (finding) => {
    const { becomes, isLeft } = isApplied
      ? await ask(place, finding)
      : { becomes: heldBy(finding.holdId), isLeft: true };
    if (isLeft) left++;
    const counts = Object.entries(finding.rules).map(([rule, count]) => `${rule} ${count}`);
    const events = `${finding.events} ${finding.events === 1 ? 'event' : 'events'}`;
    write(`${finding.sessionId}: ${events}: ${counts.join(', ')}${becomes}`);
  }).finally(() => db.destroy());
  const asked = findings - left;
  write(
    isApplied
      ? `Read ${formatCount(sessions, 'session')}. The service masks ${asked} of them, and begins within a minute.`
      : `Read ${formatCount(sessions, 'session')}. Nothing was changed.`,
  );
  if (left === 0) return;
  throw new Error(
    isApplied
      ? `Holds keep ${formatCount(left, 'session')} in which today's rules find something.`
      : `Today's rules find something in ${formatCount(left, 'session')}. Mask it there; docs/masking.md says how.`,
  );
}

/** @throws if there is an unknown option */
function readOptions(options: readonly string[]): { after: string; isApplied: boolean } {
  const rest = [...options];
  const isApplied = rest[0] === '--apply' && rest.shift() !== undefined;
  const [option, after = '', ...more] = rest;
  if (more.length > 0 || (option !== undefined && (option !== '--after' || after === ''))) {
    throw new Error(
      '`scan-secrets` reports what it finds. --apply masks it; --apply --after SESSION continues after that session; --cancel withdraws masks that are not done yet. There are no other options.',
    );
  }
  return { after, isApplied };
}

const heldBy = (holdId: string | undefined) => (holdId === undefined ? '' : `; held by ${holdId}`);

/**
 * Requests the service to mask a finding.
 * @returns the outcome as the end of a sentence, and whether a hold leaves the finding unmasked
 */
async function ask(place: StoreOptions, finding: SecretsFound): Promise<{ becomes: string; isLeft: boolean }> {
  try {
    const isNew = await changeStore(place, (transaction) => askByRules(transaction, finding, Date.now()));
    return { becomes: isNew ? '; will be masked' : '; was requested before', isLeft: false };
  } catch (error) {
    if (error instanceof Problem && error.code === 'content_withheld') {
      return { becomes: '; its content was removed meanwhile', isLeft: false };
    }
    if (!(error instanceof MaskHeld)) throw error;
    return { becomes: heldBy(error.holdId), isLeft: true };
  }
}

/**
 * Withdraws the masks that scans requested and that are not done. Texts that are masked already stay masked.
 * @throws if SQLite's log may still contain masked texts
 */
async function cancel(place: StoreOptions, write: Write): Promise<void> {
  let cancelled = 0;
  for (let listed = LISTED_AT_ONCE; listed === LISTED_AT_ONCE; ) {
    const masks = await changeStore(place, (transaction) => listMasksByRules(transaction, LISTED_AT_ONCE));
    for (const mask of masks) {
      // Each has its own transaction, so that the service waits for one at most and no deadlock is possible.
      const isCancelled = await changeStore(place, (transaction) => cancelMask(transaction, mask, Date.now()));
      if (isCancelled) cancelled++;
    }
    listed = masks.length;
  }
  write(`The masks of ${formatCount(cancelled, 'session')} were withdrawn. Texts that are masked already stay masked.`);
  if (await forgetChanges(place)) return;
  throw new Error(
    'A long read, such as a backup, still needs the log of SQLite, which may contain masked texts. When it has ended, run this command again.',
  );
}
