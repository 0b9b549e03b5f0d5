import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { formatCount } from '../contract/count.ts';
import { auditHeadsFile, readAuditKey, readHeads } from './audit/heads.ts';
import { idOfKey } from './audit/signers.ts';
import { NO_HEADS, verifyAudit } from './audit/verify.ts';
import { backUp } from './backup/backup.ts';
import { checkBackup } from './backup/check.ts';
import { describeCounts, manifestOf } from './backup/manifest.ts';
import { restoreBackup } from './backup/restore.ts';
import type { Bus } from './bus/bus.ts';
import { connectBus } from './bus/connect.ts';
import { listDeadLetters, retryDeadLetters } from './bus/dead-letters.ts';
import { joinBus, leaveBus } from './bus/numbering.ts';
import { type Config, ConfigError } from './config.ts';
import { scanSecretsCommand } from './erase/mask/scan-command.ts';
import { beginStore } from './first-start.ts';
import { reindex } from './reindex.ts';
import { moveStore } from './store/move.ts';
import { changeStore, openStore, openStoreToRead, readSnapshot, type Store } from './store/open.ts';
import { assertFree, exportRows, recordExport } from './transfer/export.ts';
import { checkImport, importOrganization } from './transfer/import.ts';
import { confirmClock } from './trusted-clock.ts';

type Command = (config: Config, write: Write, options: readonly string[]) => Promise<void>;

/** The commands that run instead of the service. */
export const COMMANDS: Record<string, Command> = {
  'migrate --from sqlite --to postgres': migrateToPostgres,
  reindex,
  'join bus': onBus(async ({ db }, _, write) => {
    await joinBus(db);
    write('Events are numbered on the event bus from now on. Start all processes with BUS_URL.');
  }),
  'leave bus': onBus(async ({ db }, bus, write) => {
    await leaveBus(db, bus);
    write('Events are numbered in PostgreSQL from now on. Start all processes without BUS_URL.');
  }),
  'dead-letter list': onBus((_, bus, write) => listDeadLetters(bus, write)),
  'dead-letter retry': onBus(async ({ pool }, bus, write) => {
    if (pool) await retryDeadLetters(bus, pool, write);
  }),
  'scan-secrets': scanSecretsCommand,
  'audit verify': verifyAuditLogs,
  'begin anew': beginAnew,
  'clock confirm': confirmTime,
  backup,
  restore,
  export: exportCommand,
  import: importCommand,
};

/** The options of each command; the others have none. */
const OPTIONS_OF: Record<string, string> = {
  'scan-secrets': '[--apply] [--after SESSION] | --cancel',
  'audit verify': '[--heads FILE]',
  backup: 'FILE',
  restore: 'FILE [--check] [--key KEY]',
  export: 'ORGANIZATION FILE [--person USER]',
  import: 'FILE [--check] [--key KEY]',
};

const HELP = new Set(['help', '--help', '-h']);

/**
 * Runs the command that the words begin with; `help` lists all of them. The remaining words are its options.
 * @throws if there is no such command, or it fails
 */
export async function runCommand(words: readonly string[], config: () => Config, write: Write): Promise<void> {
  if (HELP.has(words.join(' '))) {
    for (const name of Object.keys(COMMANDS)) write([name, OPTIONS_OF[name] ?? []].flat().join(' '));
    return;
  }
  for (let length = words.length; length > 0; length--) {
    const name = words.slice(0, length).join(' ');
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    const isWhole = length === words.length || Object.hasOwn(OPTIONS_OF, name);
    if (command && isWhole) return command(config(), write, words.slice(length));
  }
  throw new Error(`\`${words.join(' ')}\` is not a command. \`help\` lists the commands.`);
}

/**
 * Checks the audit logs of the store against the signed heads in `--heads FILE`, or in the file that the service itself writes.
 * A service may be using the store.
 * @throws Error if something does not match
 */
async function verifyAuditLogs(config: Config, write: Write, options: readonly string[]): Promise<void> {
  const [option, given] = options;
  if (options.length > 2 || (option !== undefined && (option !== '--heads' || given === undefined))) {
    throw new Error('`audit verify` accepts no option except --heads FILE');
  }
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl } = config;
  const path = given ?? auditHeadsFile(config);
  const known = given !== undefined || existsSync(path);
  const heads = known ? await readHeads(path, readAuditKey(config, false)) : NO_HEADS;
  const db = await openStoreToRead({ dataDir, databaseUrl, onError: (error) => write(error.message) });
  const { organizations, entries, findings, ...signed } = await verifyAudit(db, heads).finally(() => db.destroy());
  write(`Read ${formatCount(entries, 'entry', 'entries')} of ${formatCount(organizations, 'organization')}.`);
  write(`Compared ${formatCount(signed.heads, 'head')} of ${formatCount(signed.compared, 'organization')}.`);
  if (organizations === 0) throw new Error('There is no organization in this store. Check DATA_DIR and DATABASE_URL.');
  for (const line of heads.foreignLines) write(`line ${line} of ${path} is not signed by this service`);
  for (const { organizationId, sequence, problem } of findings)
    write(`${organizationId} entry ${sequence}: ${problem}`);
  const count = findings.length + heads.foreignLines.length;
  for (const organizationId of signed.unsigned) write(`${organizationId} has no head in ${path}`);
  if (count > 0) throw new Error(`The audit log was changed: ${formatCount(count, 'finding')}.`);
  if (signed.unsigned.length > 0) {
    throw new Error(
      `No signed head was compared with ${signed.unsigned.length} of ${formatCount(organizations, 'organization')}, so a log that was cut off or written anew goes unnoticed. Name the file with all heads: --heads FILE`,
    );
  }
  write('Nothing was changed.');
}

/** Creates the store if it is missing, although there are signs of an earlier one. */
async function beginAnew({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl }: Config, write: Write): Promise<void> {
  const store = await openStore({ dataDir, databaseUrl, onError: (error: Error) => write(error.message) });
  await beginStore(store.db).finally(store.close);
  write(
    'The service starts on this store. Move the signed heads and backups of the earlier store away, so that nobody mixes them up.',
  );
}

/** Makes the service delete data because of its age again, although it doubts its clock. The service may be running. */
async function confirmTime({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl }: Config, write: Write): Promise<void> {
  const now = Date.now();
  const place = { dataDir, databaseUrl, onError: (error: Error) => write(error.message) };
  const before = await changeStore(place, (transaction) => confirmClock(transaction, now));
  const [time, earlier] = [now, before].map((at) => new Date(at).toISOString());
  write(`The clock says ${time}; the store was last used at ${earlier}.`);
  write('A running service deletes by this clock within the hour, and a service that starts does so at once.');
}

/**
 * Writes a backup of the embedded store. A service may be using the store. `--scheduled` lets the schedule count and remove it.
 * @throws if there is no store, or the file exists
 */
async function backup(config: Config, write: Write, options: readonly string[]): Promise<void> {
  const [file, ...more] = options.filter((option) => option !== '--scheduled');
  if (file === undefined || more.length > 0) throw new Error('Name one file: `backup FILE`');
  assertEmbedded(config, 'pg_dump backs up PostgreSQL; docs/backup.md says how');
  const { counts, bytes } = await backUp({
    dataDir: config.DATA_DIR,
    file,
    key: readAuditKey(config),
    isScheduled: options.includes('--scheduled'),
    now: Date.now,
  });
  write(`${file} holds ${describeCounts(counts)}, ${bytes} bytes.`);
  write(`${manifestOf(file)} describes it. Keep both; \`restore ${file} --check\` checks them.`);
}

/**
 * Puts a backup into an empty data folder; with `--check` it only reads it.
 * @throws if something is wrong with it, or the folder holds a store
 */
async function restore(config: Config, write: Write, options: readonly string[]): Promise<void> {
  const { file, isCheck, key = ownKey(config) } = fileOf('restore', options);
  if (isCheck) {
    const findings = await checkBackup({ file, key, write });
    for (const finding of findings) write(finding);
    if (findings.length > 0) throw new Error(`${formatCount(findings.length, 'finding')}. Do not rely on ${file}.`);
    return write(`Nothing is wrong with ${file}.`);
  }
  assertEmbedded(config, 'pg_restore restores PostgreSQL; docs/backup.md says how');
  const signer = await restoreBackup(file, config.DATA_DIR, key);
  write(signedWith(file, signer, key));
  write(`${config.DATA_DIR} holds the store of ${file}. Start the service on it.`);
}

interface FileOptions {
  file: string;
  isCheck: boolean;
  /** The id of the key that must have signed the file. */
  key?: string | undefined;
}

/** @throws if the options are not one file, with or without `--check` and `--key` */
function fileOf(command: string, options: readonly string[]): FileOptions {
  const at = options.indexOf('--key');
  const key = at === -1 ? undefined : options[at + 1];
  const rest = at === -1 ? options : options.toSpliced(at, 2);
  const [file, ...more] = rest.filter((option) => option !== '--check');
  if (file === undefined || more.length > 0 || (at !== -1 && key === undefined)) {
    throw new Error(`Name one file: \`${command} FILE\`, and maybe \`--check\` and \`--key KEY\``);
  }
  return { file, isCheck: rest.includes('--check'), key };
}

/** The id of the audit key of this service; undefined on a new machine, which has none. */
function ownKey(config: Config): string | undefined {
  const isNew = config.AUDIT_KEY === undefined && config.SECRET_PEPPER === undefined;
  if (isNew && !existsSync(join(config.DATA_DIR, 'audit-key.pem'))) return undefined;
  return idOfKey(readAuditKey(config, false).publicKey);
}

const signedWith = (file: string, signer: string, expected: string | undefined) =>
  expected === undefined
    ? `${file} is signed with the key ${signer}. Nobody compared it: --key KEY does.`
    : `${file} is signed with the key ${signer}, as expected.`;

/**
 * Writes an organization of the store into a file; with `--person USER` only the data of one person. A service may be using the
 * store.
 * @throws if there is no such organization, or the file exists
 */
async function exportCommand(config: Config, write: Write, options: readonly string[]): Promise<void> {
  const [organization, file, option, person, ...more] = options;
  const isOption = option === undefined || (option === '--person' && person !== undefined);
  if (organization === undefined || file === undefined || !isOption || more.length > 0) {
    throw new Error('Name an organization and a file: `export ORGANIZATION FILE`, and maybe `--person USER`');
  }
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl } = config;
  const key = readAuditKey(config);
  const place = { dataDir, databaseUrl, onError: (error: Error) => write(error.message) };
  assertFree(file);
  // This comes first: an export that cannot be recorded must not happen, and the export contains its own entry.
  await changeStore(place, (transaction) => recordExport(transaction, { organization, person }, Date.now()));
  const rows = await readSnapshot(place, (db) => exportRows({ db, organization, person, file, key, now: Date.now }));
  for (const [table, count] of rows) write(`${String(count).padStart(12)} rows of ${table}`);
  const use = person === undefined ? `\`import ${file}\` writes them into an empty service` : 'It is only for reading';
  write(`${file} holds them. ${use}. It is signed with the key ${idOfKey(key.publicKey)}.`);
}

/**
 * Writes an exported organization into an empty service; with `--check` it only compares.
 * @throws if they differ afterwards
 */
async function importCommand(config: Config, write: Write, options: readonly string[]): Promise<void> {
  const { file, isCheck, key } = fileOf('import', options);
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl } = config;
  const place = { dataDir, databaseUrl, onError: (error: Error) => write(error.message) };
  const { signer, findings } = isCheck
    ? await readSnapshot(place, (db) => checkImport(db, file, key))
    : await openStore(place).then((store) => importOrganization(store.db, file, key).finally(store.close));
  write(signedWith(file, signer, key));
  for (const finding of findings) write(finding);
  if (findings.length > 0)
    throw new Error(`${formatCount(findings.length, 'difference')} between ${file} and the store.`);
  write(`The store has what ${file} holds.`);
}

function assertEmbedded({ DATABASE_URL }: Config, remedy: string): void {
  if (DATABASE_URL !== undefined) throw new ConfigError([`DATABASE_URL is set: ${remedy}`]);
}

type Write = (line: string) => void;

/** @throws ConfigError if an address is missing */
function onBus(work: (store: Store, bus: Bus, write: Write) => Promise<void>) {
  return async (config: Config, write: Write) => {
    const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, BUS_URL: url } = config;
    if (url === undefined) throw new ConfigError(['BUS_URL is needed: the address of the event bus']);
    const store = await openStore({ dataDir, databaseUrl, onError: (error) => write(error.message) });
    try {
      const bus = await connectBus({ url, db: store.db, log: { info: write, warn: write, error: write } });
      await work(store, bus, write).finally(bus.close);
    } finally {
      await store.close();
    }
  };
}

/**
 * Moves the embedded store in `DATA_DIR` to the PostgreSQL at `DATABASE_URL`.
 * @throws ConfigError if one of them is missing; MoveRefused
 */
async function migrateToPostgres(config: Config, write: Write): Promise<void> {
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl } = config;
  const problems = [
    ...(databaseUrl === undefined ? ['DATABASE_URL is needed: the PostgreSQL to move into'] : []),
    ...(existsSync(join(dataDir, 'session-capture.sqlite')) ? [] : [`DATA_DIR ${dataDir} holds no embedded store`]),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  const onError = (error: Error) => write(`A connection was lost: ${error.message}`);
  const from = await openStore({ dataDir, onError });
  try {
    const to = await openStore({ dataDir, databaseUrl, onError });
    try {
      await moveStore({
        from,
        to,
        onTable: (table, rows, phase) => write(`${phase} ${String(rows).padStart(12)} rows of ${table}`),
      });
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
  write('Everything was copied and compared. Start the service with DATABASE_URL; keep DATA_DIR until you trust it.');
}
